"""Values that change from request to request, and numbers written otherwise."""

import pytest
from cause_checks import AROUND, leading_both_ways

from shadowviz.tokens.finding import Cause


@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        (
            "x-anthropic-billing-header: cc_version=2.1.3; cch=abc12;\nYou are",
            "x-anthropic-billing-header: cc_version=2.1.3; cch=ff912;\nYou are",
            Cause.ATTRIBUTION_HEADER,
        ),
        ("You are", "x-anthropic-billing-header: cc_version=2.1.3; cch=ff912;\nYou are", Cause.ATTRIBUTION_HEADER),
    ],
)
def test_a_whole_text_has_the_same_cause_from_both_sides(a: str, b: str, cause: Cause) -> None:
    assert leading_both_ways(a, b) == {cause}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("W: 2030-W15-2 x", "W: 2030-W39-7 x", Cause.TIME),
        ("The date is Tuesday, 9 June 2026.", "The date is Wednesday, 10 June 2026.", Cause.TIME),
        ("Now: 2026-06-09T15:04:20.123Z go", "Now: 2026-06-09T15:04:21.004Z go", Cause.TIME),
        ("ts=1781017460 go on", "ts=1781017999 go on", Cause.TIME),
        ("ts=1781017460123 go on", "ts=1781018888111 go on", Cause.TIME),
        ("It is 3 PM now, so", "It is 4 PM now, so", Cause.TIME),
        ("It is 3:04 PM now", "It is 3:04 AM now", Cause.TIME),
        ("Today is Monday. Be", "Today is Friday. Be", Cause.TIME),
        (
            "\u73b0\u5728\u662f2026\u5e746\u67089\u65e5 15\u65f604\u5206\u3002\u8bf7",
            "\u73b0\u5728\u662f2026\u5e746\u670810\u65e5 16\u65f605\u5206\u3002\u8bf7",
            Cause.TIME,
        ),
        (
            "Сегодня 9 июня 2026 года. Отвечай",
            "Сегодня 10 июля 2026 года. Отвечай",
            Cause.TIME,
        ),
        (
            "\uc624\ub298\uc740 2026\ub144 6\uc6d4 9\uc77c \ud654\uc694\uc77c\uc785\ub2c8\ub2e4",
            "\uc624\ub298\uc740 2026\ub144 6\uc6d4 10\uc77c \uc218\uc694\uc77c\uc785\ub2c8\ub2e4",
            Cause.TIME,
        ),
        ("Date: Tue, 09 Jun 2026 15:04:20 GMT\nx", "Date: Wed, 10 Jun 2026 01:22:10 GMT\nx", Cause.TIME),
        ("build 20260609 of", "build 20261130 of", Cause.TIME),
        ("09/06/2026 - report", "10/06/2026 - report", Cause.TIME),
        ("knowledge cutoff: June 2024. x", "knowledge cutoff: October 2025. x", Cause.TIME),
        ("id: 550e8400-e29b-41d4-a716-446655440000 ok", "id: 6ba7b810-9dad-11d1-80b4-00c04fd430c8 ok", Cause.UUID),
        ("id 550e8400e29b41d4a716446655440000 ok", "id 6ba7b8109dad11d180b400c04fd430c8 ok", Cause.UUID),
        ("trace 01ARZ3NDEKTSV4RRFFQ69G5FAV.", "trace 01BX5ZZKBKACTAV9WEVGEMMVS0.", Cause.UUID),
        ("chatcmpl-9xYzAbC123dEf456 begin", "chatcmpl-7QwErTy890uIoP12 begin", Cause.UUID),
        ("req_ab12cd34 in", "req_ff09aa77 in", Cause.UUID),
        ("commit deadbeef1 x", "commit cafebabe2 x", Cause.UUID),
        ("session 83749201 starts", "session 19283746 starts", Cause.UUID),
        ("Turn 9. Say", "Turn 10. Say", Cause.COUNTER),
        ("You have used 1041 tokens so far", "You have used 1187 tokens so far", Cause.COUNTER),
        ("#12 of the list", "#13 of the list", Cause.COUNTER),
        ("step 3/10: do", "step 4/10: do", Cause.COUNTER),
        ("uptime: 3600 s", "uptime: 3723 s", Cause.COUNTER),
        ("attempt=1 max", "attempt=2 max", Cause.COUNTER),
        ("The answer is Paris of course.", "The answer is London of course.", Cause.TEXT),
        ("pay 300 dollars", "pay 7000 dollars", Cause.TEXT),
        ("Use Python to do it", "Use Rust to do it", Cause.TEXT),
        ("Be brief.\nNever lie.\nEnd.", "Be brief.\nAlways answer in French, please.\nEnd.", Cause.TEXT),
        ("limit 1,500.50 eur", "limit 1500.50 eur", Cause.NUMBER_FORM),
        ("rate 1e3 x", "rate 1000 x", Cause.NUMBER_FORM),
        ("take three apples", "take 3 apples", Cause.NUMBER_FORM),
        ("0x1F flags", "31 flags", Cause.NUMBER_FORM),
        ("num \u0661\u0662\u0663 x", "num 123 x", Cause.NUMBER_FORM),
        ("p = 007 ok", "p = 7 ok", Cause.NUMBER_FORM),
        ('{"a": 1.50, "b": 2}', '{"a": 1.5, "b": 2}', Cause.NUMBER_FORM),
        ('x {"now": "2026-01-01", "q": [1, 2]} y', 'x {"now": "2026-01-02", "q": [1, 2]} y', Cause.TIME),
        ("r\xe9sum\xe9", "resume", Cause.TEXT),
        ("The quick brown fox jumps.", "The quick brown cat jumps.", Cause.TEXT),
        ("\u4f60\u597d\u4e16\u754c\uff0c\u4eca\u5929", "\u4f60\u597d\u670b\u53cb\uff0c\u4eca\u5929", Cause.TEXT),
        ("hello", "goodbye and farewell", Cause.TEXT),
        ("version: 12, ok", "version: 13, ok", Cause.COUNTER),
        ("v1.2.3 is out", "v1.2.4 is out", Cause.TEXT),
        ("temp 0.7 is", "temp 0.8 is", Cause.TEXT),
    ],
)
def test_a_difference_has_the_same_cause_from_both_sides_and_inside_a_text(
    a: str, b: str, cause: Cause, around: tuple[str, str]
) -> None:
    assert leading_both_ways(a, b, around) == {cause}

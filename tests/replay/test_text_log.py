"""Lookup logs read back: what is right passes, each wrong number is named, and foreign lines do no harm."""

import io
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.exporters.text_log import init_line, lookup_lines
from shadowviz.replay.reused import Pair, Reused
from shadowviz.replay.text_log.check import MAX_LISTED, Checked, check_log
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.core.spans import Extent

ARTICLE = """\
[INFO] ShadowRadix initialized with m=32, m'=128, n_win=2048
[DEBUG] ShadowRadix: Found longest prefix match for len=42. Logical span: [0, 42].
[DEBUG] ShadowRadix: Deriving physical state for [0, 42]...
[DEBUG] ShadowRadix: -> CSA blocks: [15, 16, 17] (3 blocks, each covers 32 tokens)
[DEBUG] ShadowRadix: -> HCA blocks: [3] (1 block, covers 128 tokens)
[DEBUG] ShadowRadix: -> SWA range: [26, 42] (last 16 tokens within window)
[DEBUG] ShadowRadix: -> Tail offset: 0 (no tail, 42 is multiple of 32 and 128)
[INFO] Cache hit! Reusing 3 CSA blocks, 1 HCA block, and SWA state for 16 tokens.
"""
FOUR = [
    (4, "CSA blocks", "3", "1"),
    (5, "HCA blocks", "1", "0"),
    (6, "SWA range", "[26, 42]", "[0, 42]"),
    (7, "tail", "offset 0, no tail, 42 a multiple of 32 and 128", "CSA 10 and HCA 42"),
]


def checked(text: str | bytes) -> Checked:
    data = text.encode() if isinstance(text, str) else text
    return check_log(io.BytesIO(data), "test.log")


def found(result: Checked) -> list[tuple[int, str, str, str]]:
    return [(item.line, item.claim, item.found, item.expected) for item in result.contradictions]


def block_ids(rng: random.Random, count: int) -> list[int]:
    """As a pool has them: runs of neighbours."""
    ids: list[int] = []
    while len(ids) < count:
        first = rng.randrange(10**6) * 1000 + len(ids) * 10**9
        ids += range(first, first + rng.randint(1, 9))
    return ids[:count]


def a_lookup(rng: random.Random, pair: Pair, n_win: int, length: int) -> str:
    csa, hca = (block_ids(rng, length // item.ratio if item else 0) for item in (pair.csa, pair.hca))
    window = Extent(max(0, length - n_win + 1), length)
    return lookup_lines(Reused(length, csa, hca, window), pair, n_win)


geometries = st.tuples(
    st.one_of(st.none(), st.integers(1, 64)), st.one_of(st.none(), st.integers(65, 300)), st.integers(1, 400)
)


def pair_of(csa: int | None, hca: int | None) -> Pair:
    return Pair(Compressor("csa", csa) if csa else None, Compressor("hca", hca) if hca else None)


def test_the_sample_of_the_article_has_its_four_contradictions() -> None:
    result = checked(ARTICLE)
    assert found(result) == FOUR
    assert (result.lookups, result.wrong_lookups, result.lines, result.incomplete) == (1, 1, 8, 0)
    assert result.contradictions[0].why == "42 = 1 x 32 + 10"
    assert result.contradictions[1].why.endswith("the last one is still open")


@given(geometries, st.lists(st.integers(0, 1200), min_size=1, max_size=5), st.integers(0, 2**32))
def test_what_is_written_passes_for_any_geometry(
    geometry: tuple[int | None, int | None, int], lengths: list[int], seed: int
) -> None:
    *ratios, n_win = geometry
    rng, pair = random.Random(seed), pair_of(*ratios)
    text = init_line(pair, n_win) + "".join(a_lookup(rng, pair, n_win, length) for length in lengths)
    result = checked(text)
    assert found(result) == []
    assert (result.lookups, result.lines) == (len(lengths), 1 + 7 * len(lengths))
    assert (result.incomplete, result.num_unread, result.other_lines, result.torn) == (0, 0, 0, 0)


@given(geometries, st.integers(0, 900), st.integers(0, 2**32), st.data())
def test_any_number_that_is_changed_is_found(
    geometry: tuple[int | None, int | None, int], length: int, seed: int, data: st.DataObject
) -> None:
    *ratios, n_win = geometry
    rng, pair = random.Random(seed), pair_of(*ratios)
    text = init_line(pair, n_win) + a_lookup(rng, pair, n_win, length)
    place = data.draw(st.sampled_from(list(re.finditer("[0-9]+", text))))
    value = data.draw(
        st.one_of(st.integers(max(0, int(place[0]) - 3), int(place[0]) + 3), st.integers(0, 10**6)).filter(
            lambda value: value != int(place[0])
        )
    )
    changed = f"{text[: place.start()]}{value}{text[place.end() :]}"
    assert checked(changed).num_contradictions, changed


def test_every_number_of_one_lookup_changed_by_one_is_found_on_its_line() -> None:
    pair = pair_of(4, 128)
    text = init_line(pair, 128) + lookup_lines(Reused(1003, range(64, 314), range(2, 9), Extent(876, 1003)), pair, 128)
    assert found(checked(text)) == []
    for place in re.finditer("[0-9]+", text):
        changed = f"{text[: place.start()]}{int(place[0]) + 1}{text[place.end() :]}"
        line = text.count("\n", 0, place.start()) + 1
        lines = [item[0] for item in found(checked(changed))]
        assert lines, (line, place[0])
        assert set(lines) == {line}, (line, place[0], lines)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: "\ufeff" + text,
        lambda text: "".join(f"2026-06-09 15:04:{n:02},123 w-1 {line}\n" for n, line in enumerate(text.splitlines())),
        lambda text: "".join(f"{1e9 + n:.6f} rank=0 pid=7 {line}\n" for n, line in enumerate(text.splitlines())),
        lambda text: text.replace("[DEBUG] ", "").replace("[INFO] ", ""),
        lambda text: text.replace("[DEBUG]", "DEBUG:").replace("[INFO]", "INFO:"),
        lambda text: text.replace(", 42]", ", 42)").replace("m'", "m′"),
    ],
)
def test_what_stands_around_a_line_does_no_harm(change: "object") -> None:
    assert callable(change)
    assert found(checked(change(ARTICLE))) == FOUR


def test_lines_of_others_are_left_alone() -> None:
    noise = [
        "",
        "GET /metrics 200",
        "[DEBUG] Scheduler: step 42",
        "\x00\x1b[2J\u202e",
        "Cache hitting",
        "ShadowRadixes",
    ]
    text = "".join(f"{noise[n % len(noise)]}\n{line}\n" for n, line in enumerate(ARTICLE.splitlines()))
    result = checked(text)
    assert [(item[0] / 2, *item[1:]) for item in found(result)] == FOUR
    assert (result.other_lines, result.num_unread) == (8, 0)


@given(st.integers(0, 2**32), st.booleans())
def test_lookups_that_are_interleaved_are_told_apart(seed: int, named: bool) -> None:
    rng, pair = random.Random(seed), pair_of(4, 128)
    texts = [a_lookup(rng, pair, 128, rng.randrange(900)).splitlines() for _ in range(3)]
    if named:
        texts = [[f"[w{n}] {line}" for line in lines] for n, lines in enumerate(texts)]
    mixed = [init_line(pair, 128).rstrip()]
    while any(texts):
        mixed.append(rng.choice([lines for lines in texts if lines]).pop(0))
    result = checked("\n".join(mixed) + "\n")
    assert (found(result), result.lookups, result.incomplete) == ([], 3, 0)


@given(st.integers(0, 2**32))
def test_a_wrong_line_among_interleaved_ones_is_found(seed: int) -> None:
    rng, pair = random.Random(seed), pair_of(4, 128)
    texts = [a_lookup(rng, pair, 128, length).splitlines() for length in (300, 700)]
    texts[1][4] = texts[1][4].replace("within window of 128", "within window of 127")
    mixed = [init_line(pair, 128).rstrip()]
    while any(texts):
        mixed.append(rng.choice([lines for lines in texts if lines]).pop(0))
    result = checked("\n".join(mixed) + "\n")
    assert [item[1:] for item in found(result)] == [("window", "127", "128")]
    assert "127" in mixed[found(result)[0][0] - 1]


@pytest.mark.parametrize("kept", range(0, 640, 7))
def test_a_line_that_is_cut_off_is_no_contradiction(kept: int) -> None:
    pair = pair_of(4, 128)
    text = init_line(pair, 128) + lookup_lines(Reused(521, range(130), range(4), Extent(394, 521)), pair, 128)
    result = checked(text[: 60 + kept])
    assert found(result) == []
    cut = text[: 60 + kept].splitlines()[-1]
    assert result.torn in (0, len(text[: 60 + kept].splitlines()))
    assert bool(result.torn) == (re.search("ShadowRadix:|Cache hit!", cut) is not None and cut not in text.splitlines())


def test_without_an_init_line_the_lines_check_each_other() -> None:
    lines = ARTICLE.splitlines(keepends=True)[1:]
    result = checked("".join(lines))
    assert [item[:2] for item in found(result)] == [(3, "CSA blocks"), (4, "HCA blocks"), (6, "tail")]
    assert result.no_geometry
    more = "".join(lines).replace("3 CSA", "4 CSA").replace("for 16 tokens", "for 17 tokens")
    assert [item[1] for item in found(checked(more))] == [
        "CSA blocks",
        "HCA blocks",
        "tail",
        "CSA blocks",
        "SWA tokens",
    ]


def test_both_windows_that_engines_keep_are_right() -> None:
    def window(start: int, count: int) -> list[str]:
        text = init_line(pair_of(4, 128), 128) + "[DEBUG] ShadowRadix: Deriving physical state for [0, 1000]...\n"
        text += f"[DEBUG] ShadowRadix: -> SWA range: [{start}, 1000] (last {count} tokens)\n"
        return [item[1] for item in found(checked(text))]

    assert (window(873, 127), window(872, 128)) == ([], [])
    assert (window(873, 128), window(872, 127)) == (["SWA tokens"], ["SWA tokens"])
    assert (window(871, 129), window(871, 127), window(874, 126)) == (["SWA range"],) * 3
    assert window(871, 9) == ["SWA range", "SWA tokens"]


def test_an_engine_that_counts_the_open_window_is_told_so() -> None:
    text = init_line(pair_of(4, 128), 128) + "ShadowRadix: Deriving physical state for [0, 6]...\n"
    result = checked(text + "ShadowRadix: -> CSA blocks: [7, 9] (2 blocks)\n")
    assert found(result) == [(3, "CSA blocks", "2", "1")]
    assert "still open" in result.contradictions[0].why


def test_two_blocks_with_one_id_are_found() -> None:
    text = init_line(pair_of(4, 128), 128) + "ShadowRadix: Deriving physical state for [0, 12]...\n"
    assert found(checked(text + "ShadowRadix: -> CSA blocks: [7, 9, 7]\n"))[0][1:3] == ("CSA block ids", "7 twice")


@given(st.lists(st.one_of(st.binary(max_size=200), st.sampled_from(ARTICLE.encode().splitlines())), max_size=30))
def test_bytes_of_any_sort_are_read_or_refused(parts: list[bytes]) -> None:
    try:
        result = checked(b"\n".join(parts))
    except InputError:
        return
    assert result.lines


def test_numbers_and_lines_of_absurd_size_are_not_read() -> None:
    nines = "9" * 5000
    text = ARTICLE + f"[DEBUG] ShadowRadix: -> SWA range: [0, {nines}] (x)\n" + "ShadowRadix:" * 10**5 + "\n"
    result = checked(text)
    assert (found(result), result.unread) == (FOUR, [9, 10])


def test_a_flood_of_contradictions_is_counted_and_not_kept() -> None:
    result = checked(ARTICLE * (MAX_LISTED // 4 + 9))
    assert (len(result.contradictions), result.num_contradictions) == (MAX_LISTED, MAX_LISTED + 36)


@pytest.mark.parametrize("text", ["", "\n", "hello\n" * 9, "ShadowRadix: what?\n", "Cache hit! 3\n"])
def test_a_file_that_is_no_such_log_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="none of them of the form: expected lines such as"):
        checked(text)

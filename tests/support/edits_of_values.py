"""Edits of what a client writes anew with every request: identifiers, counters; and numbers in another form."""

import base64
import json
from random import Random
from typing import Final
from uuid import UUID

from labelled import Edit, Pair, around, pair
from prompt_texts import document, plain_prompt, sentences

LETTERS: Final = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
IDENTIFIERS: Final = (
    "uuid",
    "UUID",
    "urn",
    "hex32",
    "hex40",
    "hex16",
    "hex24",
    "hex8",
    "ulid",
    "prefixed",
    "nano",
    "base64",
    "sha256",
    "pod",
    "address",
    "temporary",
    "jwt",
    "braces",
)
ID_PLACES: Final = (
    "request_id: {}", "Request ID: {}", "<session id=\"{}\">", "trace={} span=root", "[req {}] start", "commit {}",
    "X-Request-Id: {}", "会话编号：{}", "Conversation {} begins.", "| id | {} |", "/tmp/run-{}/notes.txt",
    "# session {}",
    "user {} asked:", "https://example.org/docs/{}/view", "nonce={}", "<!-- {} -->", "ETag: \"{}\"",
    "tool_call_id={}",
)  # fmt: skip
ID_KEYS: Final = (
    "request_id",
    "id",
    "trace_id",
    "sessionId",
    "uuid",
    "conversation_id",
    "nonce",
    "tool_call_id",
    "commit",
)


def _identifier(random: Random, kind: str) -> str:
    bits = random.getrandbits(128)
    uuid = str(UUID(int=bits, version=4))
    hexes = f"{bits:032x}{random.getrandbits(128):032x}"
    drawn = "".join(random.choice(LETTERS) for _ in range(24))
    match kind:
        case "uuid":
            return uuid
        case "UUID":
            return uuid.upper()
        case "urn":
            return f"urn:uuid:{uuid}"
        case "ulid":
            return "01J" + "".join(random.choice("0123456789ABCDEFGHJKMNPQRSTVWXYZ") for _ in range(23))
        case "prefixed":
            return random.choice(("req_", "call_", "toolu_", "msg_", "chatcmpl-", "sess_", "run-", "thread_")) + drawn
        case "nano":
            return drawn[:21]
        case "base64":
            return base64.b64encode(random.randbytes(18)).decode()
        case "sha256":
            return f"sha256:{hexes}"
        case "pod":
            return f"web-{hexes[:10]}-{drawn[:5].lower()}"
        case "address":
            return f"0x7f{hexes[:10]}"
        case "temporary":
            return f"/tmp/tmp{drawn[:8].lower()}"
        case "jwt":
            return f"eyJhbGciOiJIUzI1NiJ9.{base64.urlsafe_b64encode(random.randbytes(30)).decode()}.{drawn}"
        case "braces":
            return f"{{{uuid}}}"
        case _:
            return hexes[: int(kind[3:])]


def identifier(random: Random) -> Pair | None:
    """A random identifier, in text and in JSON."""
    kind = random.choice(IDENTIFIERS)
    # A prefix such as req_ says what the identifier is of, and is the same on both sides.
    one = _identifier(random, kind)
    other = _identifier(random, kind)
    if kind == "prefixed":
        other = one[:-24] + other[-24:]
    if one[:4].isdigit() or other[:4].isdigit() or not any(c.isalpha() for c in one[:8]):
        return None
    if random.random() < 0.3:
        key, rest = random.choice(ID_KEYS), document(random, 3)
        one, other = (json.dumps({key: value, **rest}) for value in (one, other))
        return pair(f"{kind} in JSON", *around(random, one, other), "UUID")
    place = random.choice(ID_PLACES)
    return pair(kind, *around(random, place.format(one), place.format(other)), "UUID")


def identifiers(random: Random) -> Pair | None:
    """Identifiers of many documents, all new."""
    rows = [sentences(random, 1) for _ in range(random.randint(2, 12))]
    kind = random.choice(("uuid", "hex32", "ulid"))
    texts = []
    for _ in range(2):
        texts.append("\n".join(f"<doc id={_identifier(random, kind)}>{row}</doc>" for row in rows))
    return pair(f"{kind}, many", *around(random, *texts), "UUID")


COUNTER_PLACES: Final = (
    "Turn {}", "Turn {}: the user speaks.", "turn {} of 50", "Request #{}", "request number {}", "Step {}/100",
    "attempt {}",
    "[{}/200] working", "Messages so far: {}", "Iteration: {}", "iteration={} status=ok", "Retry count: {}", "seq={}",
    "You have used {} tokens.", "msg-{:04}", "({}) next question", "#{}", "{}/500 done", "{} requests so far",
    "The user has sent {} messages.", "已用 {} 个令牌", "step_{}.log", "Attempt no. {} follows.",
    "Token usage: {}/200000; the rest is left", "uptime {} s", "Elapsed: {} seconds",
    "第 {} 轮对话", "Runde {}", "Tour {} :", "Запрос № {}", "ターン {}", "Remaining calls: {}", "requests_served {}",
    "<turn number=\"{}\">", "# Round {}", "This is message {} in the conversation.", "counter: {}", "page {} of 300",
)  # fmt: skip
COUNTER_KEYS: Final = (
    "turn",
    "step",
    "seq",
    "request_number",
    "iteration",
    "attempt",
    "message_count",
    "counter",
    "retries",
)


def counter(random: Random) -> Pair | None:
    """A count of requests, turns, tokens or seconds that went on."""
    one = random.choice((random.randint(1, 9), 9, 99, random.randint(10, 400), random.randint(1000, 190_000)))
    other = one + random.choice((1, 1, 1, 2, 7, random.randint(1, 30)))
    if random.random() < 0.25:
        key, rest = random.choice(COUNTER_KEYS), document(random, 3)
        a, b = (json.dumps({key: value, **rest}, ensure_ascii=False) for value in (one, other))
        return pair("in JSON", *around(random, a, b), "COUNTER")
    place = random.choice(COUNTER_PLACES)
    return pair(place, *around(random, place.format(one), place.format(other)), "COUNTER")


NUMBER_PLACES: Final = (
    "The limit is {} rows.",
    "budget = {}",
    "Population: {}.",
    "a factor of {} is used",
    "| size | {} |",
)


def number_form(random: Random) -> Pair | None:
    """One number, written in two ways."""
    whole = random.randint(1000, 99_999_999)
    grouped = f"{whole:,}"
    small, tenths = random.randint(2, 900), random.randint(1, 9)
    power, head = random.randint(3, 9), random.randint(2, 9)
    round_number = head * 10**power
    one, other = random.choice(
        (
            *((str(whole), grouped.replace(",", mark)) for mark in ",,.'_ \u00a0\u202f\u2009’"),
            (f"{small}", f"{small}.0"),
            (f"{small}.{tenths}", f"{small}.{tenths}0"),
            (f"0.{tenths}", f".{tenths}"),
            (f"{round_number}", f"{head}e{power}"),
            (f"{round_number}", f"{head}E+{power:02}"),
            (f"{small}", f"{small:#x}"),
            (f"{small}", f"{small:#b}"),
            (f"{small}", f"{small:05}"),
            (f"{small}.{tenths}", f"{small},{tenths}"),
            (f"{small}", f"+{small}"),
            *(
                (str(small), str(small).translate({48 + d: zero + d for d in range(10)}))
                for zero in (0x660, 0x966, 0x6F0)
            ),
        )
    )
    place = random.choice(NUMBER_PLACES)
    return pair(f"{one} as {other}", *around(random, place.format(one), place.format(other)), "NUMBER_FORM")


def json_number(random: Random) -> Pair | None:
    """One number in JSON: another form of it, and to a reader of the JSON another value."""
    value = random.randint(1, 500)
    one, other = random.choice(
        ((f"{value}", f"{value}.0"), (f"{value}.5", f"{value}.50"), (f"{value}000", f"{value}e3"))
    )
    place = random.choice(('{{"t": {}}}', '{{"limit": {}, "unit": "C"}}', '[{{"score": {}}}, null]'))
    return pair(
        f"{one} as {other}", *around(random, place.format(one), place.format(other)), "NUMBER_FORM", "JSON_VALUE"
    )


def _header(random: Random) -> str:
    version = f"2.{random.randint(0, 3)}.{random.randint(0, 190)}.{random.getrandbits(12):03x}"
    entry = random.choice(("cli", "sdk-cli", "sdk-ts", "claude-vscode"))
    return f"x-anthropic-billing-header: cc_version={version}; cc_entrypoint={entry}; cch={random.getrandbits(20):05x};"


def attribution_header(random: Random) -> Pair | None:
    """The billing line of a coding client: new with every request, or on one side only."""
    text, one = "You are a coding agent.\n" + plain_prompt(random), _header(random)
    before = random.choice(("", "", "<｜begin▁of▁sentence｜>", "system: "))
    other = random.choice((one[: one.rindex("cch=")] + f"cch={random.getrandbits(20):05x};", _header(random)))
    b = before + text if random.random() < 0.3 else f"{before}{other}\n{text}"
    return Pair("billing line", f"{before}{one}\n{text}", b, frozenset({"ATTRIBUTION_HEADER"}), movable=False)


EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "UUID": (*[identifier] * 5, identifiers),
    "COUNTER": (counter,),
    "NUMBER_FORM": (*[number_form] * 4, json_number),
    "ATTRIBUTION_HEADER": (attribution_header,),
}

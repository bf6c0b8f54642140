"""Edits of dates and times of day, in the forms and languages in which people and programs write them."""

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from labelled import Edit, Pair, around, pair
from prompt_texts import document

CLOCKS: Final = (
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S+00:00", "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%d %H:%M:%S,%f", "%Y%m%dT%H%M%SZ", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S GMT",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S UTC %Y", "%b %d %H:%M:%S", "%d/%b/%Y:%H:%M:%S +0000", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p",
    "%m/%d/%Y, %I:%M:%S %p", "%B %d, %Y at %I:%M %p", "%d %B %Y, %H:%M", "%H:%M:%S", "%H:%M", "%I:%M %p",
    "%H:%M:%S.%f",
    "%A, %B %d, %Y, %I:%M %p", "%Y年%m月%d日 %H时%M分", "%Y年%m月%d日%H:%M:%S", "%Y년 %m월 %d일 %H시 %M분", "%Hh%M",
    "%Y-%m-%d_%H-%M-%S", "%Y-%m-%dT%H:%M", "%H:%M UTC", "%I:%M%p", "%Y-%m-%dT%H:%M:%S.%f+02:00", "%H.%M Uhr",
    "%Y年%m月%d日 下午%I:%M", "%Y년 %m월 %d일 오후 %I:%M",
    "%y%m%d-%H%M%S", "%b %d, %Y %I:%M:%S %p", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S %z", "%A %H:%M",
    "%d-%b-%Y %H:%M:%S",
)  # fmt: skip
DATES: Final = (
    "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%B %d, %Y", "%d %B %Y", "%b %d, %Y", "%A, %B %d, %Y",
    "%A", "%a %d %b %Y", "%Y年%m月%d日", "%Y년 %m월 %d일", "%d-%b-%Y", "%Y.%m.%d", "%dth of %B %Y", "%A %d %B",
    "%Y%m%d", "%G-W%V-%u", "%B %Y", "%d %b %y", "%d.%m.", "%Y年%m月", "%A, %d. %m. %Y",
)  # fmt: skip
MONTHS: Final = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
}
PATTERNS: Final = {
    "de": "{}. {} {}",
    "fr": "{} {} {}",
    "es": "{} de {} de {}",
    "ru": "{} {} {} г.",
    "pt": "{} de {} de {}",
}
CLOCK_PLACES: Final = (
    "Current time: {}", "Current date: {}", "Today is {}.", "Now: {}. Be brief.", "The current date and time is {}.",
    "<env>\nPlatform: linux\nToday's date: {}\n</env>", "[{}] INFO worker started", "# generated {}", "(as of {})",
    "<!-- built {} -->", "当前时间：{}", "Aktuelles Datum: {}", "Nous sommes le {}.", "Сейчас {}.", "| now | {} |",
    "Knowledge cutoff: none. Date: {}. Region: EU.", "-- dump completed on {}", "Last login: {} on ttys001",
    'LOG ts="{}" level=info', "現在の日時は{}です。", "<time>{}</time>", "date: {}\ntitle: Notes",
    "run-{}-report.txt",
)  # fmt: skip
CLOCK_KEYS: Final = ("now", "timestamp", "current_time", "created_at", "date", "updatedAt", "requested_at", "time")


def _moments(random: Random) -> tuple[datetime, datetime]:
    start = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randrange(400_000_000))
    return start, start + random.choice(
        (
            timedelta(seconds=random.randint(1, 59)),
            timedelta(minutes=random.randint(1, 90)),
            timedelta(hours=random.randint(1, 30)),
            timedelta(days=random.randint(1, 400)),
        )
    )


def _written(moment: datetime, form: str) -> str:
    if form in MONTHS:
        return PATTERNS[form].format(moment.day, MONTHS[form].split()[moment.month - 1], moment.year)
    text = moment.strftime(form)
    return (
        text.replace("." + moment.strftime("%f"), f".{moment.microsecond // 1000:03}") if form.endswith("%f") else text
    )


def clock(random: Random) -> Pair | None:
    """A date, a time of day or both, in many forms and languages."""
    form = random.choice((*CLOCKS, *CLOCKS, *DATES, *MONTHS))
    first, later = _moments(random)
    one, other = _written(first, form), _written(later, form)
    if one == other:
        return None
    if random.random() < 0.25:
        key, rest = random.choice(CLOCK_KEYS), document(random, 3)
        one, other = (json.dumps({key: value, **rest}, ensure_ascii=False) for value in (one, other))
        return pair(f"{form} in JSON", *around(random, one, other), "TIME")
    place = random.choice(CLOCK_PLACES)
    return pair(form, *around(random, place.format(one), place.format(other)), "TIME")


def clocks(random: Random) -> Pair | None:
    """A log in which every line begins with its time."""
    form, (first, later) = random.choice(CLOCKS[:13]), _moments(random)
    lines = [
        random.choice(("INFO ready", "WARN slow answer", "GET /health", "done")) for _ in range(random.randint(2, 40))
    ]
    texts = [
        "\n".join(f"{_written(moment + timedelta(seconds=7 * at), form)} {line}" for at, line in enumerate(lines))
        for moment in (first, later)
    ]
    return None if texts[0] == texts[1] else pair("every line", *around(random, *texts), "TIME")


def epoch(random: Random) -> Pair | None:
    """Seconds since 1970: a time, and a number that counts seconds."""
    first, later = _moments(random)
    scale = random.choice((1, 1000))
    one, other = (int(moment.timestamp() * scale) for moment in (first, later))
    place = random.choice(('{{"ts": {}, "ok": true}}', "timestamp={}", "Unix time: {}", "epoch {} s"))
    return pair("epoch", *around(random, place.format(one), place.format(other)), "TIME", "COUNTER")


EDITS: Final[dict[str, tuple[Edit, ...]]] = {"TIME": (*[clock] * 8, clocks, epoch)}

"""Real-looking prompts of many kinds, made from a seed: what the generator of labelled edits works on."""

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

SENTENCES: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        "You are a coding agent that works in the user's repository.",
        "Read a file before you edit it, and keep the change as small as the task allows.",
        "Never run a command that deletes data without asking first.",
        'When the user says "stop", finish the current step and report what is left.',
        "Answer from the documents below; if they don't hold the answer, say so.",
        "Quote at most two sentences from any single source (its title, its page).",
        "The well-known trade-off between latency and throughput also holds for a shared cache.",
        "Prefer plain words; avoid jargon, and explain each abbreviation once.",
        "Tests live in the folder tests, fixtures beside them; run them before every commit.",
        "If a tool fails, read its message, correct the call and try again once.",
        "The customer's order was shipped from the warehouse on the same day.",
        "Résumés and café menus keep their accents; a naïve search would lose them.",
    ),
    "de": (
        "Du bist ein hilfreicher Assistent und antwortest höflich und knapp.",
        "Größere Änderungen müssen vorher erklärt werden, übliche Fehler natürlich auch.",
        "Der Nutzer fragte: „Warum ist die Straße gesperrt?“",
    ),
    "fr": (
        "Vous êtes un assistant qui répond en français, même à propos du château d'Écosse.",
        "L'élève a dû relire les données après l'été, là où ça gênait.",
    ),
    "es": (
        "El año pasado, la compañía amplió su almacén en Málaga.",
        "Responde sólo con la información que está más abajo, por favor.",
    ),
    "vi": ("Bạn là trợ lý hữu ích, hãy trả lời bằng tiếng Việt đầy đủ dấu.",),
    "pl": ("Jesteś pomocnym asystentem; odpowiadaj zwięźle, także na trudniejsze pytania o źródła.",),
    "tr": ("Kullanıcının sorusunu dikkatle oku ve kısa, açık bir yanıt ver.",),
    "ru": (
        "Ты помогаешь пользователю писать код и объясняешь каждый шаг.",
        "Прочитай файл перед правкой и сохрани его кодировку.",
    ),
    "el": ("Είσαι ένας χρήσιμος βοηθός και απαντάς με σαφήνεια στα ελληνικά.",),
    "zh": ("你是一个乐于助人的助手，请根据下面的文档回答问题。", "如果文档里没有答案，就直接说明，不要编造内容。"),
    "ja": (
        "あなたは親切なアシスタントです。質問には日本語で簡潔に答えてください。",
        "データベースの設定ファイルを読み、バグの原因をガイドに沿って説明する。",
    ),
    "ko": ("당신은 도움이 되는 조수입니다. 아래 문서만 보고 대답하세요.",),
    "ar": ("أنت مساعد مفيد، أجب باللغة العربية وبإيجاز.",),
    "he": ("אתה עוזר מועיל, ענה בקצרה ובעברית.",),
    "hi": ("आप एक सहायक हैं, कृपया हिंदी में संक्षेप में उत्तर दें।",),
    "th": ("คุณเป็นผู้ช่วยที่มีประโยชน์ โปรดตอบเป็นภาษาไทย",),
}

NAMES: Final = ("get_weather", "search", "read_file", "list_orders", "send_mail", "run_tests", "lookup_user", "add")
WORDS: Final = (
    "city",
    "path",
    "query",
    "limit",
    "unit",
    "name",
    "status",
    "owner",
    "branch",
    "language",
    "price",
    "ok",
)
VALUES: Final = (
    "Paris",
    "src/main.py",
    "open",
    "pending review",
    "metric",
    "Zoë",
    "São Paulo",
    "北京",
    "Müller",
    "main",
)


def sentences(random: Random, count: int) -> str:
    """Sentences of one language, mostly English."""
    language = "en" if random.random() < 0.6 else random.choice(list(SENTENCES))
    return " ".join(random.choice(SENTENCES[language]) for _ in range(count))


def document(random: Random, fields: int = 5) -> dict[str, Any]:
    """A flat JSON object with strings, numbers and flags."""
    made: dict[str, Any] = {}
    for key in random.sample(WORDS, fields):
        made[key] = random.choice((random.choice(VALUES), random.choice(VALUES), True, None, random.randint(10, 9999)))
    return made


def tool(random: Random, name: str | None = None) -> dict[str, Any]:
    """A tool definition in OpenAI form, without the `function` wrapper."""
    keys = random.sample(WORDS, random.randint(2, 4))
    kinds = ("string", "integer", "boolean", "number")
    properties = {key: {"type": random.choice(kinds), "description": f"The {key} to use"} for key in keys}
    return {
        "name": name or random.choice(NAMES),
        "description": random.choice(SENTENCES["en"]),
        "parameters": {"type": "object", "properties": properties, "required": keys[:2]},
    }


def _agent(random: Random) -> str:
    rules = "\n".join(f"- {random.choice(SENTENCES['en'])}" for _ in range(random.randint(3, 6)))
    return f"{sentences(random, 2)}\n\n# Rules\n\n{rules}\n\n## Style\n\n{sentences(random, 2)}\n"


def _rag(random: Random) -> str:
    rows = [
        json.dumps({"id": number, **document(random)}, ensure_ascii=False) for number in range(1, random.randint(3, 6))
    ]
    return "Answer with the context only.\n\nContext:\n" + "\n".join(rows) + f"\n\n{sentences(random, 2)}\n"


def _tools(random: Random) -> str:
    listed = [tool(random, name) for name in random.sample(NAMES, 3)]
    return f"{sentences(random, 1)}\n\n# Tools\n\n{json.dumps(listed, indent=2)}\n\n{sentences(random, 1)}\n"


def _chat(random: Random) -> str:
    lines = [f"{'User' if turn % 2 == 0 else 'Assistant'}: {sentences(random, 1)}" for turn in range(6)]
    return "\n\n".join(lines) + "\n"


def _log(random: Random) -> str:
    words = ("INFO", "WARN", "ERROR", "DEBUG")
    lines = [
        f"{random.choice(words):5} worker-{random.choice('abc')} {random.choice(NAMES)}: {random.choice(VALUES)}"
        for _ in range(8)
    ]
    return "Explain this log.\n\n```\n" + "\n".join(lines) + f"\n```\n\n{sentences(random, 1)}\n"


def _markdown(random: Random) -> str:
    rows = "\n".join(f"| {key} | {random.choice(VALUES)} | {random.choice(NAMES)} |" for key in WORDS[:5])
    head, end = sentences(random, 2), sentences(random, 1)
    return f"# Report\n\n{head}\n\n| key | value | tool |\n| --- | --- | --- |\n{rows}\n\n> {end}\n"


PYTHON: Final = '''def load(path: str, limit: int = 10) -> list[str]:
    """Read the first lines."""
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream):
            if number >= limit:
                break
            yield line.strip()
'''
C: Final = """#include <stdio.h>

int main(void) {
    for (int i = 0; i < count; i++) {
        printf("%s: %d\\n", names[i], totals[i]);
    }
    return 0;
}
"""
SHELL: Final = """#!/bin/sh
set -eu
for file in "$@"; do
    grep -n 'TODO' "$file" | sort | head
done
"""
YAML: Final = """services:
  web:
    image: registry/web
    ports: [http, https]
    restart: always
  worker:
    image: registry/worker
    restart: on-failure
"""


def _code(random: Random) -> str:
    language, text = random.choice((("python", PYTHON), ("c", C), ("sh", SHELL), ("yaml", YAML)))
    return f"{sentences(random, 1)}\n\n```{language}\n{text}```\n\n{sentences(random, 1)}\n"


def _many_languages(random: Random) -> str:
    return "\n".join(random.choice(SENTENCES[language]) for language in random.sample(list(SENTENCES), 5)) + "\n"


def _served(random: Random) -> str:
    return (
        f"<｜begin▁of▁sentence｜>{sentences(random, 2)}<｜User｜>{sentences(random, 1)}<｜Assistant｜></think>"
        f"{sentences(random, 1)}<｜end▁of▁sentence｜><｜User｜>{sentences(random, 1)}<｜Assistant｜></think>"
    )


KINDS: Final[tuple[Callable[[Random], str], ...]] = (
    _agent,
    _rag,
    _tools,
    _chat,
    _log,
    _markdown,
    _code,
    _many_languages,
    _served,
)


def prompt(random: Random) -> str:
    """A prompt of a random kind, about 200 to 1,500 characters."""
    return random.choice(KINDS)(random)


def prose(random: Random) -> str:
    """A prompt of lines and paragraphs, without JSON, whose blanks are a matter of their own."""
    return random.choice((_agent, _chat, _log, _markdown, _code, _many_languages))(random)


def plain_prompt(random: Random) -> str:
    """A prompt without markers of a chat template, which may stand anywhere."""
    return random.choice(KINDS[:-1])(random)

"""Edits of blanks and line ends that can be seen: what an editor or a template does."""

import re
from random import Random
from typing import Final

from labelled import Edit, Pair, around, edited, pair
from prompt_texts import PYTHON, SHELL, VALUES, YAML, C, prompt, prose


def trailing_newline(random: Random) -> Pair | None:
    """Another number of line ends at the end."""
    text = prompt(random).rstrip("\n")
    one, other = random.sample(range(4), 2)
    return Pair(
        "line ends at the end", text + "\n" * one, text + "\n" * other, frozenset({"TRAILING_NEWLINE"}), movable=False
    )


def trailing_space(random: Random) -> Pair | None:
    """Blanks and tabs before line ends, in lines with text."""
    text, new = prose(random), random.choice((" ", "  ", "   ", "\t", "    "))
    sites = [(m.end(), m.end(), new) for m in re.finditer(r"(?<=\S)(?=\n)", text)]
    return edited(random, "before line ends", text, sites, "TRAILING_SPACE")


def space_at_end(random: Random) -> Pair | None:
    """Blanks at the end of the prompt, or between the last word and the last line end."""
    text, end, new = prompt(random).rstrip("\n"), random.choice(("", "\n")), random.choice((" ", "  ", "\t"))
    return Pair("at the end", text + end, text + new + end, frozenset({"TRAILING_SPACE"}), movable=False)


def blank_line_filled(random: Random) -> Pair | None:
    """Blanks in an empty line: they end it and begin it."""
    text, new = prose(random), random.choice((" ", "    ", "\t"))
    sites = [(m.end(), m.end(), new) for m in re.finditer(r"(?<=\n)(?=\n)", text)]
    return edited(random, "in empty lines", text, sites, "TRAILING_SPACE", "LEADING_SPACE")


def leading_space(random: Random) -> Pair | None:
    """Blanks before the first word."""
    text = prompt(random)
    return Pair("first", text, random.choice((" ", "  ", "    ")) + text, frozenset({"LEADING_SPACE"}), movable=False)


def indented(random: Random) -> Pair | None:
    """A text block of source code with its indentation, against without; or single lines of it."""
    text, new = prose(random), " " * random.choice((1, 2, 4, 8))
    sites = [(m.start(), m.start(), new) for m in re.finditer(r"^(?=\S)", text, re.MULTILINE)]
    if random.random() < 0.5:
        b = re.sub(r"^(?=\S)", new, text, flags=re.MULTILINE)
        return Pair("every line", text, b, frozenset({"LEADING_SPACE"}))
    return edited(random, "some lines", text, sites[1:], "LEADING_SPACE")


def indented_otherwise(random: Random) -> Pair | None:
    """Code indented by two blanks against four: their number has changed, at the beginning of lines."""
    code = random.choice((PYTHON, C, SHELL))
    a, b = around(random, code, re.sub(r"^ +", lambda m: m[0][: len(m[0]) // 2], code, flags=re.MULTILINE))
    return pair("half the indentation", a, b, "LEADING_SPACE", "SPACE_COUNT")


def tab(random: Random) -> Pair | None:
    """Tabs against blanks: indentation of code, columns, single blanks."""
    if random.random() < 0.6:
        width, code = random.choice(((4, PYTHON), (4, C), (4, SHELL), (2, YAML)))
        sites = [(m.start(), m.end(), "\t" * (len(m[0]) // width)) for m in re.finditer(r"^ +", code, re.MULTILINE)]
        made = edited(random, "indentation", code, sites, "TAB")
    else:
        blanks = random.choice((" ", "  ", "    "))
        rows = "\n".join(
            f"{random.choice(VALUES)}{blanks}{number}{blanks}open" for number in range(random.randint(1, 12))
        )
        made = edited(random, "columns", rows, [(m.start(), m.end(), "\t") for m in re.finditer(blanks, rows)], "TAB")
    return made and pair(made.recipe, *around(random, made.a, made.b), "TAB")


def space_count(random: Random) -> Pair | None:
    """Doubled blanks between words."""
    text, new = prompt(random), " " * random.choice((2, 2, 3, 5))
    sites = [(m.start(), m.end(), new) for m in re.finditer(r"(?<=[^\s|{}\[\]:,\"]) (?=[^\s|{}\[\]])", text)]
    return edited(random, "between words", text, sites, "SPACE_COUNT")


def aligned(random: Random) -> Pair | None:
    """Columns padded to another width."""
    words = random.sample(VALUES, 4)
    a, b = ("\n".join(f"{word:{width}}{number}" for number, word in enumerate(words)) for width in (16, 20))
    return pair("columns", *around(random, a, b), "SPACE_COUNT")


def empty_lines(random: Random) -> Pair | None:
    """Another number of empty lines between paragraphs."""
    text, new = prompt(random), "\n" * random.choice((1, 3, 4))
    sites = [(m.start(), m.end(), new) for m in re.finditer(r"(?<=[^\n])\n\n(?=[^\n])", text)]
    return edited(random, "between paragraphs", text, sites, "SPACE_COUNT")


def no_blank(random: Random) -> Pair | None:
    """A blank where the other has none, in code and after marks."""
    one, other = random.choice(
        (("if(x)", "if (x)"), ("a=1", "a = 1"), ("f(a,b)", "f(a, b)"), ("x+y", "x + y"),
         ("<think>Hm", "<think> Hm"), ("10ms", "10 ms"),
         ("Note:ok", "Note: ok"), ("你好world", "你好 world"), ("for(;;)", "for (;;)"), ("50%", "50 %"))
    )  # fmt: skip
    place = random.choice(
        ("Write {} and go on.", "The style guide asks for {} here.", "```\n{}\n```", "see {}, then stop")
    )
    return pair("none or one", *around(random, place.format(one), place.format(other)), "SPACE_COUNT")


EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "TRAILING_NEWLINE": (trailing_newline,),
    "TRAILING_SPACE": (*[trailing_space] * 6, *[space_at_end] * 2, blank_line_filled),
    "LEADING_SPACE": (leading_space, *[indented] * 4, indented_otherwise),
    "TAB": (tab,),
    "SPACE_COUNT": (space_count, space_count, empty_lines, no_blank, aligned),
}

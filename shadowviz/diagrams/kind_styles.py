"""Looks of state kinds: the known ones by hand, any other label by what it is called, the same in every run."""

from collections.abc import Iterable
from zlib import crc32

from shadowviz.diagrams.theme import BLUE, GREY, ORANGE, PURPLE, ROSE, TEAL, YELLOW, Hue, Pattern, Style
from shadowviz.tokens.inert import inert

MAX_WORD = 24
"""Characters of a label that are shown; a record may name its kinds as it likes."""


def _style(word: str, marks: str, hue: Hue, pattern: Pattern, meaning: str) -> Style:
    return Style(word=word, glyph=marks[0], ascii=marks[1], hue=hue, pattern=pattern, meaning=meaning)


_KNOWN: dict[str, Style] = {
    "csa_kv": _style("CSA", "█=", BLUE, Pattern.SOLID, "compressed entries of sparse attention"),
    "index_k": _style("index", "▚:", TEAL, Pattern.DOTS, "keys of the indexer"),
    "hca_kv": _style("HCA", "▓#", ORANGE, Pattern.DIAGONAL, "heavily compressed entries"),
    "swa_kv": _style("SWA", "▒~", PURPLE, Pattern.VERTICAL, "rows of the sliding window"),
    "csa_tail": _style("CSA tail", "░.", GREY, Pattern.HORIZONTAL, "raw rows of the open CSA window"),
    "index_tail": _style("index tail", "▖,", GREY, Pattern.GRID, "raw rows of the indexer's open window"),
    "hca_tail": _style("HCA tail", "▗;", GREY, Pattern.BACK_DIAGONAL, "raw rows of the open HCA window"),
    "full_kv": _style("full", "█=", BLUE, Pattern.SOLID, "one row a token"),
    "latent_kv": _style("latent", "█=", BLUE, Pattern.SOLID, "one latent row a token"),
    "latent_index": _style("latent index", "▚:", TEAL, Pattern.DOTS, "keys of the indexer"),
    "pair_kv": _style("pair", "▓#", ORANGE, Pattern.DIAGONAL, "entries of two tokens"),
    "pair_index": _style("pair index", "▞%", YELLOW, Pattern.CROSS, "keys of the indexer, one for two tokens"),
    "pair_tail": _style("pair tail", "░.", GREY, Pattern.HORIZONTAL, "raw row of the open pair"),
    "chunk_kv": _style("chunk", "▒~", PURPLE, Pattern.VERTICAL, "rows since the last chunk began"),
    "delta_state": _style("delta", "◆D", ORANGE, Pattern.DIAGONAL, "snapshots of a recurrent state"),
    "conv_state": _style("conv", "◇C", ROSE, Pattern.BACK_DIAGONAL, "snapshots of a convolution"),
    "ssm_state": _style("SSM", "◆M", ORANGE, Pattern.DIAGONAL, "snapshots of a state-space layer"),
    "linear_state": _style("linear", "◆L", ORANGE, Pattern.DIAGONAL, "snapshots of linear attention"),
    "ple_state": _style("PLE", "▪P", YELLOW, Pattern.CROSS, "snapshots of per-layer embeddings"),
    "engram_ids": _style("engram", "·'", GREY, Pattern.EMPTY, "made again from token ids"),
    "ngram_ids": _style("n-gram", "·'", GREY, Pattern.EMPTY, "made again from token ids"),
}

_HUES = (BLUE, TEAL, ORANGE, PURPLE, YELLOW, ROSE)
_PATTERNS = (
    Pattern.SOLID,
    Pattern.DIAGONAL,
    Pattern.DOTS,
    Pattern.VERTICAL,
    Pattern.CROSS,
    Pattern.BACK_DIAGONAL,
    Pattern.HORIZONTAL,
    Pattern.GRID,
)
_MARKS = ("█=", "▓#", "▒~", "░.", "▚:", "▞%", "▖,", "▗;", "◆*", "◇o")


def kind_style(label: str) -> Style:
    """How the kind called `label` looks, by itself; `kind_styles` keeps the kinds of one picture apart."""
    return _KNOWN.get(label) or _unknown(label, crc32(label.encode("utf-8", "surrogatepass")))


def kind_styles(labels: Iterable[str]) -> dict[str, Style]:
    """How each kind of one picture looks, by label: as `kind_style` says, unless two would look alike.

    The later of two takes the next look that is free, as long as there is one. Known labels are settled first.
    """
    wanted = list(dict.fromkeys(labels))
    styles: dict[str, Style] = {}
    for label in sorted(wanted, key=lambda label: label not in _KNOWN):
        style, taken = kind_style(label), {_look(style) for style in styles.values()}
        number = crc32(label.encode("utf-8", "surrogatepass"))
        tries = 0
        while _look(style) in taken and tries < len(_HUES) * len(_PATTERNS) * len(_MARKS):
            tries += 1
            style = _unknown(label, number + tries)
        styles[label] = style
    return {label: styles[label] for label in wanted}


def _look(style: Style) -> tuple[str, str]:
    return style.glyph, style.ascii


def _unknown(label: str, number: int) -> Style:
    word = inert(label[: MAX_WORD + 1])
    word = word if len(word) <= MAX_WORD else f"{word[: MAX_WORD - 1]}…"
    marks = _MARKS[number % len(_MARKS)]
    return _style(word or "(no name)", marks, _HUES[number % len(_HUES)], _PATTERNS[number % len(_PATTERNS)], "")

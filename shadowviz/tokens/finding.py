"""Why two prompts part, as a name, a sentence and what to do about it."""

from dataclasses import dataclass, field
from enum import StrEnum

from shadowviz_engine.core.spans import Extent


class Cause(StrEnum):
    """What makes a differing stretch differ."""

    TEMPLATE = "TEMPLATE"
    """The same messages, rendered otherwise."""
    REASONING_MISSING = "REASONING_MISSING"
    """The history came back without the reasoning that was generated."""
    EFFORT_PREFIX = "EFFORT_PREFIX"
    """Another reasoning effort, whose text stands before everything else."""
    ATTRIBUTION_HEADER = "ATTRIBUTION_HEADER"
    """A line for billing that a coding client puts first and changes with every request."""
    REORDERED = "REORDERED"
    """The same tools, keys or messages in another order."""
    SYSTEM_GREW = "SYSTEM_GREW"
    """The system message or its tools got longer."""
    HISTORY_EDITED = "HISTORY_EDITED"
    """An earlier message was changed."""
    HISTORY_TRUNCATED = "HISTORY_TRUNCATED"
    """Earlier messages were left out."""
    TOKENIZER_VERSION = "TOKENIZER_VERSION"
    """The same text under two tokenizers."""
    RETOKENIZED = "RETOKENIZED"
    """The same text as other ids of one tokenizer."""
    SPECIAL_VS_TEXT = "SPECIAL_VS_TEXT"
    """The same text, once as a control token and once as letters."""
    LOOKALIKE_SPECIAL = "LOOKALIKE_SPECIAL"
    """A marker written with other characters that look the same, so that it is no control token."""
    BOS_DOUBLED = "BOS_DOUBLED"
    """The mark of a beginning twice against once."""
    BOS_MISSING = "BOS_MISSING"
    """The mark of a beginning on one side only."""
    EOS_SWAPPED = "EOS_SWAPPED"
    """Another mark of an end in the same place."""
    MERGE_ACROSS_BOUNDARY = "MERGE_ACROSS_BOUNDARY"
    """One text begins with all of the other, but its ids do not: the last characters were merged with what follows."""
    NORMALISED_EQUAL = "NORMALISED_EQUAL"
    """Other text, equal ids: a hit."""
    EXTENDS = "EXTENDS"
    """All ids of one are a prefix of the other's: nothing is lost."""
    TIME = "TIME"
    """A date or a time of day."""
    UUID = "UUID"
    """A random identifier."""
    COUNTER = "COUNTER"
    """A number that counts requests, turns or seconds."""
    NUMBER_FORM = "NUMBER_FORM"
    """The same number, written otherwise."""
    JSON_ESCAPE = "JSON_ESCAPE"
    """The same JSON text, with and without escapes for characters."""
    JSON_SPACING = "JSON_SPACING"
    """The same JSON with other blanks between its parts."""
    JSON_VALUE = "JSON_VALUE"
    """JSON in which a value has changed."""
    ESCAPED = "ESCAPED"
    """Text that was escaped for a format on one side: HTML entities, doubled backslashes, percent signs."""
    CRLF = "CRLF"
    """CR LF, or CR alone, against LF."""
    LINE_SEPARATOR = "LINE_SEPARATOR"
    """Another character that ends a line: VT, FF, NEL, U+2028, U+2029."""
    UNICODE_FORM = "UNICODE_FORM"
    """The same characters, composed in another way."""
    SPACE_KIND = "SPACE_KIND"
    """Another kind of blank: no-break, thin, ideographic."""
    ZERO_WIDTH = "ZERO_WIDTH"
    """A character without width: zero-width space or joiner, word joiner, soft hyphen."""
    BIDI_MARK = "BIDI_MARK"
    """A mark of writing direction."""
    BOM = "BOM"
    """A byte-order mark."""
    QUOTE = "QUOTE"
    """Another kind of quotation mark."""
    DASH = "DASH"
    """Another kind of dash."""
    HOMOGLYPH = "HOMOGLYPH"
    """A letter of another script that looks the same."""
    FULL_WIDTH = "FULL_WIDTH"
    """Full-width against half-width forms."""
    EMOJI = "EMOJI"
    """Another emoji, or another sequence for it: variation selector, skin tone, joiner."""
    CASE = "CASE"
    """Capital against small letters."""
    TRAILING_NEWLINE = "TRAILING_NEWLINE"
    """Another number of line ends at the end."""
    TRAILING_SPACE = "TRAILING_SPACE"
    """Blanks before a line end, or at the end."""
    LEADING_SPACE = "LEADING_SPACE"
    """Blanks at the beginning, or at the beginning of a line."""
    TAB = "TAB"
    """Tabs against blanks."""
    SPACE_COUNT = "SPACE_COUNT"
    """Another number of blanks or line ends in a row."""
    PUNCTUATION = "PUNCTUATION"
    """Another punctuation mark."""
    TEXT = "TEXT"
    """Another text, and nothing more specific."""
    UNKNOWN = "UNKNOWN"
    """The ids cannot be read: they are redacted, or of another vocabulary."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, where it shows and what it costs."""

    cause: Cause
    subject: str
    """What the cause is about, for causes that name it: `tools`, `keys`, `messages`; else empty."""
    a: Extent
    """Tokens of A that differ through it; empty extents say where something is missing."""
    b: Extent
    detail: str
    """One printable line that says what was found, with both sides: `CR LF in B where A has LF`."""
    advice: str
    """One printable line that says what to change; empty where nothing is lost."""
    gain: int
    """Tokens that both sides have from here up to the next difference of another cause: what joins the common prefix if
    this cause is mended, at all its places, and those before it are."""
    measured: bool = field(default=False, compare=False)
    """Whether `gain` was counted on a prompt that was rendered and encoded again; else it is read off the alignment."""

    @property
    def breaks(self) -> bool:
        """Whether it ends the common prefix of ids; NORMALISED_EQUAL and EXTENDS do not."""
        return self.cause not in (Cause.NORMALISED_EQUAL, Cause.EXTENDS)

"""What to change for each cause, as one sentence."""

from typing import Final

from shadowviz.tokens.finding import Cause

_STABLE: Final = "or move it behind everything that is shared"

ADVICE: Final[dict[Cause, str]] = {
    Cause.TEMPLATE: "render every turn with one template and the same options (thinking, drop_thinking)",
    Cause.REASONING_MISSING: "send the reasoning of earlier turns back, and render with drop_thinking off",
    Cause.EFFORT_PREFIX: "keep one reasoning effort for all turns that share a prompt",
    Cause.ATTRIBUTION_HEADER: "set the environment variable CLAUDE_CODE_ATTRIBUTION_HEADER=0 in the coding client",
    Cause.REORDERED: "send it in one fixed order: sort it before the prompt is built",
    Cause.SYSTEM_GREW: "append what is new behind what is shared, and leave the beginning as it was",
    Cause.HISTORY_EDITED: "send earlier messages back exactly as they were",
    Cause.HISTORY_TRUNCATED: "drop old messages rarely and many at a time, so that the beginning stays for long",
    Cause.TOKENIZER_VERSION: "encode both prompts with one tokenizer; what an older one stored cannot be shared",
    Cause.RETOKENIZED: "send the stored token ids again instead of encoding their text anew",
    Cause.SPECIAL_VS_TEXT: "encode the marker in the same way on both sides: as a control token, or escaped as text",
    Cause.LOOKALIKE_SPECIAL: "write the marker with the characters of the tokenizer's control token",
    Cause.BOS_DOUBLED: "send one beginning mark: the template and the encoder must not both add it",
    Cause.BOS_MISSING: "begin both prompts with the beginning mark, or neither",
    Cause.EOS_SWAPPED: "end every turn with one and the same end mark",
    Cause.MERGE_ACROSS_BOUNDARY: (
        "end the shared part where the tokenizer never merges, such as behind a line end or a control token, "
        "or append token ids instead of text"
    ),
    Cause.NORMALISED_EQUAL: "",
    Cause.EXTENDS: "",
    Cause.TIME: f"leave the time out, round it to what the task needs, {_STABLE}",
    Cause.UUID: f"leave the identifier out of the prompt, {_STABLE}",
    Cause.COUNTER: f"leave the counter out of the prompt, {_STABLE}",
    Cause.NUMBER_FORM: "format numbers in one way",
    Cause.JSON_ESCAPE: "write JSON with one setting for escapes (ensure_ascii the same everywhere)",
    Cause.JSON_SPACING: "write JSON with the same separators and indent everywhere",
    Cause.JSON_VALUE: f"send the same value, {_STABLE}",
    Cause.ESCAPED: "escape the text once, in the same place on both paths",
    Cause.CRLF: "send LF, not CR LF, at line ends",
    Cause.LINE_SEPARATOR: "send LF at line ends",
    Cause.UNICODE_FORM: "send text in one Unicode form (NFC)",
    Cause.SPACE_KIND: "send plain blanks (U+0020)",
    Cause.ZERO_WIDTH: "strip characters without width before sending",
    Cause.BIDI_MARK: "strip marks of writing direction, or send the same ones always",
    Cause.BOM: "strip the byte-order mark: read files as utf-8-sig",
    Cause.QUOTE: "send one kind of quotation mark: turn off smart quotes",
    Cause.DASH: "send one kind of dash: turn off smart punctuation",
    Cause.HOMOGLYPH: "write the word in letters of one script",
    Cause.FULL_WIDTH: "send one width of characters (NFKC on both sides)",
    Cause.EMOJI: "send the same emoji, or leave it out of what is shared",
    Cause.CASE: "send the same capital and small letters",
    Cause.TRAILING_NEWLINE: "end the text in the same way: strip line ends at the end, or add just one",
    Cause.TRAILING_SPACE: "strip blanks at line ends before sending",
    Cause.LEADING_SPACE: "indent alike: strip blanks at the beginning, or keep them always",
    Cause.TAB: "indent with blanks or with tabs, not both",
    Cause.SPACE_COUNT: "send the same number of blanks",
    Cause.PUNCTUATION: "send the same punctuation marks",
    Cause.TEXT: f"send the same text, {_STABLE}",
    Cause.UNKNOWN: "record the ids unredacted and with their tokenizer to learn the cause",
}


def advice_for(cause: Cause, subject: str = "") -> str:
    """One imperative line; empty where nothing is lost."""
    if cause is Cause.REORDERED and subject:
        how = "json.dumps(sort_keys=True)" if subject == "keys" else "sort them by name" if subject == "tools" else ""
        return f"send the {subject} in one fixed order" + (f" ({how})" if how else "")
    return ADVICE[cause]

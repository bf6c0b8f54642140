"""Pages of comparisons, read as a browser reads them, and what hostile prompts try."""

import re
from html.parser import HTMLParser

from shadowviz.tokens.align.align import align
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.rendering.render import Segment
from shadowviz.tokens.report.compare import compare
from shadowviz.tokens.report.page import pair_page
from shadowviz.tokens.side import Side, side_of_text
from shadowviz_engine.core.presets import preset

FLASH = preset("v4-flash")
# fmt: off
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "main", "section", "p", "h1", "h2", "h3", "small", "b",
    "em", "code", "pre", "bdi", "mark", "span", "div", "table", "thead", "tbody", "tr", "th", "td", "meter",
    "details", "summary", "dl", "dt", "dd", "ul", "li",
}
# fmt: on
# fmt: off
CLASSES = {
    "kicker", "advice", "scroll", "n", "strip", "pair", "side", "ids", "id", "diff", "row", "same", "cell",
    "a", "b", "label", "at", "text", "changed", "alone", "retokenized", "control", "fold",
}
# fmt: on
INJECTIONS = [
    "<script>document.title='owned'</script>",
    "</code></div></main><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "</style><style>*{display:none}</style>",
    "--></title><svg onload=alert(1)>",
    "\"'><a href='javascript:alert(1)'>here</a>",
    "&lt;script&gt; &amp; &#60;b&#62; &#x3c;",
    "{{ 7 * 7 }} {% raw %} {# x #} ${7*7}",
    "<![CDATA[ <b>x</b> ]]> <?xml?> <!DOCTYPE x>",
    "\x00\x01\x07\x1b[31mred\x1b[0m\x7f\x9b31m",
    "\u202egnp.exe\u202c \u2066hidden\u2069 \u200b\ufeff\u2028\u2029",
    "</textarea></noscript></iframe></template><iframe srcdoc='x'>",
    "<|im_start|> <\uff5cUser\uff5c> \ud7ff\ue000\uffff\U0010ffff",
]


class Page(HTMLParser):
    """A page read as a browser reads it: elements, attributes and text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.open: list[str] = []
        self.attributes: set[tuple[str, str, str]] = set()
        self.text = ""
        self.other: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes |= {(tag, name, value or "") for name, value in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


def side(name: str, text: str, label: str = "") -> Side:
    segments = (Segment(label, 0, len(text)),) if label else ()
    return side_of_text(name, text, default_tokenizer(), segments=segments)


def page_of(a: Side, b: Side, sources: tuple[str, str] = ("", "")) -> str:
    return pair_page(compare(a, b, FLASH, sources), a, b, align(a, b))


def check_harmless(source: str) -> Page:
    """That a page has only elements and attributes of the template, and no character that is not printable."""
    page = Page(source)
    assert page.open == []
    assert set(page.elements) <= ELEMENTS
    assert page.elements.count("style") == page.elements.count("title") == page.elements.count("main") == 1
    assert page.other == []
    for tag, name, value in page.attributes:
        if name == "class":
            assert set(value.split()) <= CLASSES
        elif tag == "meter":
            assert name in ("min", "max", "value")
            assert value.isdigit()
        else:
            assert (tag, name) in {("html", "lang"), ("html", "dir"), ("th", "scope")} or tag == "meta"
    assert re.search(r"https?:|url\(|@import|javascript:", source.partition("</style>")[0]) is None
    assert all(line.isprintable() for line in source.split("\n"))
    return page

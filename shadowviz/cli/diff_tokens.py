"""`shadowviz diff-tokens`: why two prompts that look the same share no prefix."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shadowviz.cli.show import write_json, write_out

if TYPE_CHECKING:
    from shadowviz.cli.page_file import PageFile
    from shadowviz.tokens.align.token_diff import TokenDiff
    from shadowviz.tokens.inputs.prompt import Form
    from shadowviz.tokens.inputs.side import Reading
    from shadowviz.tokens.report.many import ManyReport
    from shadowviz.tokens.report.report import Report
    from shadowviz.tokens.report.turns import TurnsReport
    from shadowviz.tokens.side import Side
    from shadowviz_engine.core.geometry import Geometry

DIFFERENT = 1
"""Exit code when something is lost, as diff has it."""


@dataclass(frozen=True)
class Asked:
    """What the options say of any comparison."""

    form: "Form | None"
    reading: "Reading"
    geometry: "Geometry"
    as_json: bool
    page_file: "PageFile | None"


def diff_tokens(
    prompts: Annotated[
        list[str],
        typer.Argument(
            help="Two prompts: text, files, - for stdin, or RUN#ID. Or one folder, record or file of requests.",
            metavar="A [B]",
        ),
    ],
    turns: Annotated[
        bool, typer.Option("--turns", help="One conversation: compare each request with the next.")
    ] = False,
    form: Annotated[
        Literal["text", "messages", "ids"] | None, typer.Option("--as", help="What the content is; else it is guessed.")
    ] = None,
    tokenizer: Annotated[
        str, typer.Option(help="deepseek-v4, deepseek-v3, deepseek-v2, bytes, or a tokenizer's file or folder.")
    ] = "deepseek-v4",
    tokenizer_b: Annotated[str, typer.Option(help="Of B, where it is another.")] = "",
    template: Annotated[str, typer.Option(help="A chat template's file or folder; else as DeepSeek-V4 renders.")] = "",
    template_b: Annotated[str, typer.Option(help="Of B, where it is another.")] = "",
    template_option: Annotated[
        list[str] | None, typer.Option(help="A variable of the template; may be given again.", metavar="KEY=VALUE")
    ] = None,
    thinking: Annotated[
        bool | None, typer.Option("--thinking/--no-thinking", help="Render messages for thinking.")
    ] = None,
    effort: Annotated[
        Literal["none", "low", "high", "max"] | None, typer.Option(help="Reasoning effort of the rendering.")
    ] = None,
    keep_thinking: Annotated[
        bool | None, typer.Option("--keep-thinking/--drop-thinking", help="Keep the reasoning of earlier turns.")
    ] = None,
    add_special: Annotated[
        bool, typer.Option("--add-special", help="Let the tokenizer add its own marks: shows a doubled beginning.")
    ] = False,
    geometry: Annotated[
        str, typer.Option("--geometry", "--family", help="A preset, for the cost: as derive takes it.")
    ] = "v4-flash",
    page: Annotated[
        int, typer.Option("--page-size", "--page", help="Tokens of its page; 0 = the preset's.", min=0)
    ] = 0,
    html: Annotated[
        str | None, typer.Option("--html", help="Write the answer as one HTML page to FILE.", metavar="FILE")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
    view: Annotated[
        Literal["summary", "unified", "side"],
        typer.Option(help="What to print of two prompts: why they part, or both line by line."),
    ] = "summary",
    show_all: Annotated[bool, typer.Option("--all", help="With --view unified or side: every changed line.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Say where two prompts part, why, what it costs and what to change.

    A is taken as stored and B as sent. Files are compared byte for byte. text:, ids: or file: before an argument says
    what it is. Ends with 0 where nothing is lost, with 1 where something is.
    """
    from shadowviz.cli.page_file import PageFile
    from shadowviz.tokens.inputs.prompt import Form
    from shadowviz.tokens.inputs.side import reading_of
    from shadowviz.tokens.report.cost import geometry_of

    _check_view(view, show_all=show_all, as_json=as_json, alone=turns or len(prompts) == 1)
    page_file = None if html is None else PageFile(html, force, (*prompts, tokenizer, tokenizer_b))
    cache = geometry_of(geometry, page)
    options = _options(thinking, effort, keep_thinking, template_option or ())
    reading = reading_of(tokenizer, template, options, add_special=add_special)
    _check_prompts(prompts, most=1 if turns else 2, of_b=tokenizer_b or template_b)
    asked = Asked(Form(form) if form else None, reading, cache, as_json, page_file)
    if len(prompts) == 1:
        return (_turns if turns else _many)(prompts[0], asked)
    reading_b = reading
    if tokenizer_b or template_b:
        reading_b = reading_of(tokenizer_b or tokenizer, template_b or template, options, add_special=add_special)
    return _pair(prompts, asked, reading_b, view, show_all=show_all)


def _check_view(view: str, *, show_all: bool, as_json: bool, alone: bool) -> None:
    from shadowviz_engine.core.errors import InputError

    if view == "summary":
        if show_all:
            raise InputError("--all is of --view unified and --view side: expected one of them with it")
    elif alone:
        raise InputError(f"--view {view} shows two prompts line by line: expected A and B, without --turns")
    elif as_json:
        raise InputError(f"--view {view} is for reading and --json for programs: expected one of the two")


def _check_prompts(prompts: Sequence[str], *, most: int, of_b: str) -> None:
    from shadowviz_engine.core.errors import InputError

    if len(prompts) > most:
        expected = "one conversation with --turns" if most == 1 else "two, or one folder or file of many"
        raise InputError(f"found {len(prompts)} prompts, expected {expected}")
    if len(prompts) == 1 and of_b:
        raise InputError("--tokenizer-b and --template-b are of B: expected two prompts with them")


def _options(
    thinking: bool | None, effort: str | None, keep_thinking: bool | None, variables: Sequence[str]
) -> dict[str, Any]:
    """What the command line says about rendering; what it does not say is left to the request."""
    import json

    from shadowviz.tokens.inert import shorten
    from shadowviz_engine.core.errors import InputError

    found: dict[str, Any] = {"thinking": thinking, "effort": effort}
    found["drop_thinking"] = None if keep_thinking is None else not keep_thinking
    options = {name: value for name, value in found.items() if value is not None}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"--template-option {shorten(variable, 40)!r} is no KEY=VALUE: expected such as date=2026")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value
    return options


def _pair(prompts: Sequence[str], asked: Asked, reading_b: "Reading", view: str, *, show_all: bool) -> int:
    from shadowviz.tokens.align.align import align
    from shadowviz.tokens.inputs.side import check_comparable
    from shadowviz.tokens.report.compare import compare

    a, b, sources = _sides(prompts, asked, reading_b)
    check_comparable(a, b)
    diff = align(a, b)
    report = compare(a, b, asked.geometry, sources, diff)

    def page() -> str:
        from shadowviz.tokens.report.page import pair_page

        return pair_page(report, a, b, diff)

    return _answer(report, asked, lambda: _pair_text(report, a, b, diff, view, show_all=show_all), page)


def _sides(prompts: Sequence[str], asked: Asked, reading_b: "Reading") -> "tuple[Side, Side, tuple[str, str]]":
    from shadowviz.tokens.inputs.read import read_argument
    from shadowviz.tokens.inputs.requests import STDIN
    from shadowviz.tokens.inputs.side import make_side
    from shadowviz_engine.core.errors import InputError

    if list(prompts) == [STDIN, STDIN]:
        raise InputError("stdin holds one prompt, and - stands for it twice: expected another for one of the two")
    one, other = (read_argument(prompt, asked.form) for prompt in prompts)
    return make_side("A", one, asked.reading), make_side("B", other, reading_b), (one.source, other.source)


def _pair_text(report: "Report", a: "Side", b: "Side", diff: "TokenDiff", view: str, *, show_all: bool) -> str:
    if view == "summary":
        from shadowviz.cli.diff_view import report_text

        return report_text(report)
    from shadowviz.cli.diff_lines import MAX_CHANGED, side_text, unified_text
    from shadowviz.tokens.passages.lay_out import passages

    text_of = unified_text if view == "unified" else side_text
    return text_of(report, passages(a, b, diff), limit=None if show_all else MAX_CHANGED)


def _many(argument: str, asked: Asked) -> int:
    from shadowviz.cli.diff_many_view import many_text
    from shadowviz.tokens.inputs.many import read_all
    from shadowviz.tokens.report.many import compare_many

    report = compare_many(read_all(argument, asked.form), asked.reading, asked.geometry)

    def page() -> str:
        from shadowviz.tokens.report.page import many_page

        return many_page(report)

    return _answer(report, asked, lambda: many_text(report), page)


def _turns(argument: str, asked: Asked) -> int:
    from shadowviz.cli.diff_turns_view import turns_text
    from shadowviz.tokens.inputs.read import read_argument
    from shadowviz.tokens.report.turns import compare_turns

    report = compare_turns(read_argument(argument, asked.form), asked.reading, asked.geometry)

    def page() -> str:
        from shadowviz.tokens.report.page import turns_page

        return turns_page(report)

    return _answer(report, asked, lambda: turns_text(report), page)


def _answer(
    report: "Report | ManyReport | TurnsReport", asked: Asked, text: Callable[[], str], page: Callable[[], str]
) -> int:
    """Write what is asked for, the page first, so that nothing is printed where it cannot be; the exit code."""
    if asked.page_file is not None:
        asked.page_file.write(page())
    if asked.as_json:
        write_json(report)
    else:
        write_out(text())
    if asked.page_file is not None:
        asked.page_file.tell(asked.as_json)
    return 0 if report.same else DIFFERENT

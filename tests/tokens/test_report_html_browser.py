"""The page of a comparison in a real browser."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from html_pages import ELEMENTS, INJECTIONS, Page, page_of, side


def in_browser(require_tool: Callable[[str], str], page: Path, *options: str) -> str:
    """What Chromium makes of a page."""
    done = subprocess.run(
        [require_tool("chromium"), "--headless", "--no-sandbox", "--disable-gpu", *options, page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        cwd=page.parent,
        env={"HOME": str(page.parent), "PATH": "/usr/bin:/bin"},
    )
    return done.stdout


def test_a_browser_runs_nothing_of_a_prompt_and_shows_it(require_tool: Callable[[str], str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(page_of(side("A", "\n".join(INJECTIONS)), side("B", "x\n".join(INJECTIONS))), encoding="utf-8")
    read = in_browser(require_tool, page, "--dump-dom")
    assert "<title>shadowviz diff-tokens</title>" in read
    shown = Page(read)
    assert set(shown.elements) <= ELEMENTS
    assert INJECTIONS[0] in shown.text
    in_browser(require_tool, page, f"--screenshot={tmp_path / 'page.png'}", "--window-size=1200,900")
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_the_policy_of_the_page_stops_a_script_that_got_in(require_tool: Callable[[str], str], tmp_path: Path) -> None:
    source = page_of(side("A", "one"), side("B", "two"))
    inside = source.replace("<main>", "<main><script>document.title = 'owned'</script>", 1)
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", inside)
    titles = []
    for content in (inside, free):
        page = tmp_path / "page.html"
        page.write_text(content, encoding="utf-8")
        titles.append(re.search("<title>(.*?)</title>", in_browser(require_tool, page, "--dump-dom"))[1])
    assert titles == ["shadowviz diff-tokens", "owned"]

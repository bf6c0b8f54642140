"""Hostile chat templates: each gives one error, soon, and reaches nothing."""

import resource
import subprocess

import pytest

from shadowviz.tokens.templates.process import template_process
from shadowviz.tokens.templates.template import ChatTemplate
from shadowviz_engine.core.errors import InputError

MESSAGES = [{"role": "user", "content": "hi"}]


def render(source: str, messages=MESSAGES) -> str:
    return ChatTemplate("test", source).render(messages).text


ENDLESS = {
    "nested loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}"
    "{% endfor %}{% endfor %}",
    "a power of a power": "{{ 10 ** (10 ** 10) }}",
    "a power that is not constant": "{% set x = messages|length + 9 %}{{ x ** (x ** x) }}",
    "comparing lists of lists": "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}"
    "{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}",
    "a list of lists as text": "{% set n = namespace(a=['aaaaaaaa']) %}{% for i in range(60) %}"
    "{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a|tojson }}",
    "a macro that calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}"
    "{{ m(60) }}",
}

GREEDY = {
    "repeated text": "{{ 'a' * 10 ** 10 }}",
    "repeated list": "{{ ([messages] * 10 ** 10)|length }}",
    "doubled text": "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}"
    "{% endfor %}",
    "a long line": "{{ 'a'|center(10 ** 10) }}",
    "a long method": "{{ 'a'.ljust(10 ** 10) }}",
    "a wide format": "{{ '%10000000000d' % 1 }}",
    "a wide format method": "{{ '{:>10000000000}'.format('x') }}",
    "replacement of nothing": "{% set x = 'a'|center(9999999) %}{{ x|replace('', x)|length }}",
    "a joined list": "{{ range(99999)|join('a'|center(999999)) }}",
    "an indented text": "{{ ('\\n'|center(9999999)|replace(' ', '\\n'))|indent(100000, blank=true) }}",
}

FAILING = {
    "a long range": "{% for i in range(10 ** 9) %}{% endfor %}",
    "a macro without end": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "deep source": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "a file": "{% include '/etc/passwd' %}",
    "an import": "{% import 'os' as os %}",
    "a class": "{{ ''.__class__.__mro__ }}",
    "a class by filter": "{{ (''|attr('__class__')).mro() }}",
    "a class by item": "{{ ''['__class__']['__base__'] }}",
    "a class by format": "{{ '{0.__class__.__mro__}'.format('') }}",
    "a class by format map": "{{ '{a.__class__.__mro__}'.format_map({'a': ''}) }}",
    "the globals of a function": "{{ raise_exception.__globals__['x'] }}",
    "the globals of a loop": "{{ lipsum.__globals__['os'].popen('id') }}",
    "the code of a macro": "{% macro m() %}{% endmacro %}{{ m._func.__code__.co_code }}",
    "the environment": "{{ self._TemplateReference__context.environment.x }}",
    "a base by map": "{{ ['']|map(attribute='__class__.__base__')|first|attr('x') }}",
    "a name of a namespace": "{% set n = namespace(**{'__class__': 1}) %}",
    "changed messages": "{{ messages.append(1) }}",
    "changed message": "{{ messages[0].update({'content': 'x'}) }}",
    "unknown syntax": "{% if %}",
    "an unclosed block": "{% for m in messages %}",
    "an unknown filter": "{{ 1|nothing }}",
    "a number over nothing": "{{ 1 / 0 }}",
    "an undefined variable": "{{ nothing.at.all }}",
}


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS.keys())
def test_a_template_that_does_not_end_is_stopped(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shadowviz.tokens.templates.search.RENDER_S", 0.5)
    with pytest.raises(InputError, match=r"^the chat template takes longer than 0.5 s"):
        render(source)


@pytest.mark.parametrize("source", GREEDY.values(), ids=GREEDY.keys())
def test_a_template_that_needs_much_memory_is_stopped(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # However slow the machine is at handing out memory.
    monkeypatch.setattr("shadowviz.tokens.templates.search.RENDER_S", 600.0)
    with pytest.raises(InputError, match=r"^the chat template (needs more than 512 MiB|line 1: \w+: )") as caught:
        render(source)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("source", FAILING.values(), ids=FAILING.keys())
def test_a_template_that_fails_gives_one_line(source: str) -> None:
    with pytest.raises(InputError, match=r"^the chat template ") as caught:
        render(source)
    assert "\n" not in str(caught.value)


def test_a_text_without_end_is_stopped_before_it_fills_the_memory() -> None:
    source = "{% for i in range(99999) %}{% for j in range(999) %}{{ 'a'|center(99) }}{% endfor %}{% endfor %}"
    with pytest.raises(InputError, match="the chat template writes more than 16,777,216 characters"):
        render(source)


def test_the_next_template_is_rendered_after_one_that_was_stopped() -> None:
    with pytest.raises(InputError):
        render(GREEDY["doubled text"])
    assert render("{{ messages[0].content }}") == "hi"


def test_a_refusal_is_told_as_the_template_words_it() -> None:
    with pytest.raises(InputError, match=r"^the chat template line 2: refuses: no \\u001b\[31m, please$"):
        render("\n{{ raise_exception('no \x1b[31m, please') }}")


def test_what_draws_lots_is_the_same_every_time() -> None:
    source = "{{ range(1000)|list|random }} {{ lipsum(n=1) }}"
    assert render(source) == render(source)


def test_the_process_writes_no_file_starts_no_other_and_ends_with_its_input() -> None:
    process = template_process()
    process.start()
    inner = process._process
    assert inner is not None
    render("x")
    assert resource.prlimit(inner.pid, resource.RLIMIT_FSIZE)[0] == 0
    assert resource.prlimit(inner.pid, resource.RLIMIT_NPROC)[0] == 0
    assert resource.prlimit(inner.pid, resource.RLIMIT_AS)[0] == 2**29
    assert inner.stdin is not None
    inner.stdin.close()
    assert inner.wait(timeout=60) == 0
    assert render("y") == "y"


def test_a_process_that_was_killed_is_started_anew() -> None:
    render("x")
    inner = template_process()._process
    assert isinstance(inner, subprocess.Popen)
    inner.kill()
    inner.wait()
    assert render("y") == "y"

"""The table of lookups: every lookup once, the dearest where there are too many, texts that can do nothing."""

import msgspec
from lookup_runs import ExplainedRun

from shadowviz.diagrams.caption_of import state_caption
from shadowviz.diagrams.lookups import LookupsDiagram, lookups_diagram, verdict_line
from shadowviz.replay.explain import Explanation
from shadowviz.replay.summary import summarise


def explanations() -> tuple[ExplainedRun, list[Explanation]]:
    """Runs that lose different amounts."""
    run = ExplainedRun()
    found = [run.run(range(1_000)), run.run(range(1_000)), run.run(range(300))]
    found += [run.run([7, *range(1, 1_000)]), run.run(range(200)), run.run(range(5_000, 5_010))]
    return run, found


def table(most: int | None = None) -> tuple[LookupsDiagram, list[Explanation]]:
    run, found = explanations()
    state = run.explainer.state
    return lookups_diagram(state_caption("Lookups", "run.jsonl", state, state.seq), found, most), found


def test_the_table_has_each_lookup_with_its_lengths_and_verdict() -> None:
    diagram, found = table()
    assert [line.request for line in diagram.lines] == [one.request for one in found]
    for line, one in zip(diagram.lines, found, strict=True):
        assert (line.label, line.lost, line.seq) == (one.verdict.label, one.lost, one.lookup.seq)
        assert line.computed + line.reused == line.num_prompt
        assert [fact.text for fact in line.facts] == [fact.text for fact in one.facts]
    summary = summarise(found)
    assert (diagram.prompt_tokens, diagram.reused_tokens) == (summary.prompt_tokens, summary.reused_tokens)
    assert sum(loss.lost for loss in diagram.losses) == sum(line.lost for line in diagram.lines) > 0
    assert (diagram.caption.shown, diagram.caption.total, diagram.caption.unit) == (6, 6, "lookups")


def test_too_many_lookups_leave_the_dearest_in_their_order_and_the_sums_whole() -> None:
    whole, _ = table()
    short, _ = table(2)
    dearest = sorted(whole.lines, key=lambda line: -line.lost)[:2]
    assert list(short.lines) == [line for line in whole.lines if line in dearest]
    assert (short.caption.shown, short.caption.total) == (2, 6)
    assert any("lost most" in note for note in short.caption.notes)
    assert (short.losses, short.prompt_tokens, short.hit_rate) == (whole.losses, whole.prompt_tokens, whole.hit_rate)


def test_a_verdict_in_one_line_says_what_it_cost_and_why() -> None:
    _, found = table()
    line = verdict_line(found[1])
    assert line.startswith(f"{found[1].verdict.label}")
    dear = max(found, key=lambda one: one.lost)
    assert f"{dear.lost:,} tokens lost: " in verdict_line(dear)


def test_names_that_hold_escapes_and_marks_of_direction_are_written_out() -> None:
    run, found = explanations()
    evil = "\x1b]0;x\x07\u202e</script>\n"
    forged = [msgspec.structs.replace(one, request=f"{evil}{place}") for place, one in enumerate(found)]
    state = run.explainer.state
    diagram = lookups_diagram(state_caption(evil, evil * 100_000, state, state.seq), forged)
    texts = [diagram.caption.title, diagram.caption.source, *(line.request for line in diagram.lines)]
    texts += [loss.example for loss in diagram.losses]
    assert all(text.isprintable() for text in texts)
    assert len(diagram.caption.source) < 1_000

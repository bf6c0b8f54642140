"""Writes `reference/cli.md` from the commands' own help: `python docs/make_cli.py`."""

import contextlib
import io
from pathlib import Path

from shadowviz.cli.main import app, main

TARGET = Path(__file__).parent / "reference" / "cli.md"

HEAD = """\
# Commands

Data goes to stdout, everything else to stderr. An error is one line that begins with `shadowviz:`. Output holds colour
only on a terminal, and none where `NO_COLOR` is set. What a prompt says is shown inert: characters that could move the
cursor, hide or reorder text appear as escapes. `--json` prints one JSON object; its fields stay as they are described
here, new ones may come. How commands end: [exit-codes.md](exit-codes.md). This page is made from the commands' help by
`docs/make_cli.py`.
"""

JSON = {
    "run": """\
JSON: `lookups`, `summary`, `log` (the record, or null), `interrupted`, `prompt_logprobs` (by request, of those that
asked for them with `logprob_start`).

A lookup has `request`, `seq`, `num_prompt`, `common`, `matched`, `usable`, `reused`, `computed` (tokens), `verdict`,
`detail`, `gain` (tokens that lifting the leading rule alone would have saved), `state` (`length`, `stop`, or why it was
aborted), `ttft_ms`, `decode_tokens_per_s` (null where there is none) and `num_output`.

A summary has `lookups`, `prompt_tokens`, `reused_tokens`, `computed_tokens`, `hit_rate` (0 to 1), `losses`, dearest
first (`verdict`, `requests`, `lost`, `example`, `example_seq`, `example_lost`, `change`), `best_change` and
`best_change_wins` (tokens).

A line of a request file has exactly one of `messages`, `prompt` and `token_ids`, and may have `id`, `max_tokens`,
`at_s` (arrival in seconds from the start), `namespace`, `temperature`, `top_p`, `seed`, `logprob_start`
(natural logarithms of the probabilities of the prompt's tokens behind this position are wanted, so that no more is
reused: the verdict says CAPPED(logprobs)); with `messages` also `tools`, `thinking`, `effort`, `drop_thinking`.
""",
    "why": """\
JSON without a request: the summary of `run`. With one: `lookups`, each with `request`, `seq`, `verdict`, `detail`,
`lost`, `lookup` (the event, see [events.md](events.md)), `findings` (the verdict first; `verdict`, `rule`, `detail`,
`length`, `gain`, `material`, `event`), `parting` (where the prompt parts from the nearest stored path, or null),
`facts` (`text`, `origin`: observed, derived or assumed) and `change` (what to do about it, or nothing).

`--fail-on` takes a verdict of [verdicts.md](../explanation/verdicts.md), with its detail or without, and looks at
leading verdicts only. It ends with 2 where a record does not tell how every request was looked up.
""",
    "derive": """\
JSON: `geometry`, `page_size`, `span`, `owned` and `needed` (descriptors: `kind`, `rows`, `reads`, `layers`, `tier`,
`pages`, `slots`, `origin`), `figures` (`kind`, `complete`, `allocated`, `tail`), `reusable_page`, `reusable_any`,
`notes`. Ranges are `[start, stop]`, half-open.
""",
    "probe": """\
JSON: `lookups`, as `why` with a request has them.
""",
    "diff-tokens": """\
An argument is, in this order: what its prefix says (`text:`, `ids:`, `file:`); stdin (`-`); a file that is there; one
request of a record or of a file of requests (`RUN.jsonl#ID`); an error where it looks like a path; else the prompt
itself. Without `--as`, a file is read as messages where it is a JSON list of messages or an object with `messages`, as
ids where it is a JSON list of whole numbers or two of them and more between blanks, and else as text.

JSON of two prompts: `version`, `same` (nothing is lost), `equal` (the same ids), `verdict` (a sentence), `a` and `b`
(`name`, `source`, `num_tokens`, `num_bytes`, `tokenizer`, `fingerprint`, `readable`, `notes`), `common`, `excerpt_a`
and `excerpt_b` (`place` with `token`, `byte`, `line`, `column` and `segment`; `before`, `differing`, `after`,
`num_characters`, `tokens` with `id`, `text` and `control`, `num_tokens`; null where no token differs), `causes`, the
one that leads first (`cause`, `subject`, `a`, `b`, `segment`, `detail`, `advice`, `gain`, `breaks`), `cost`
(`geometry`, `page`, `num_prompt`, `common`, `reused`, `mended`, `reused_if_mended`, `reused_if_all_mended`, `lost`,
`rows` with `kind`, `rows` and `layers`; `proven`: whether `mended` was measured on a prompt with the cure applied, else
it is an estimate; `proof`: what was encoded again; `moved` and `reused_if_moved`: measured with the value at the end of
both prompts, or null), `advice`, `alignment` (`counts` and `runs`, each with `op`, `a` and `b`;
`num_runs`, `realigned`, `strip`) and `notes`. Extents are `[start, stop]`, half-open, in tokens. `before`, `differing`
and `after` are as sent. What each figure means stands in [how two prompts are
compared](../explanation/diff-tokens.md).

JSON of many prompts: `version`, `same`, `geometry`, `page`, `requests`, `prompt_tokens`, `reused`, `lost`, `causes`,
dearest first (`cause`, `requests`, `lost`, `example`, `example_earlier`, `example_lost`, `advice`), `pairs` (`request`,
`earlier`, `num_prompt`, `common`, `reused`, `lost`, `gain`, `cause`, `segment`, `detail`, `advice`) and `notes`.

JSON with `--turns`: `version`, `same`, `source`, `geometry`, `page`, `lost`, `turns` (`turn`, `answer`, `num_prompt`,
`stored`, `next_prompt`, `common`, `lost`, `reused`, `reused_if_kept`, `breaks`, `cause`, `stored_id`, `next_id`,
`stored_segment`, `next_segment`, `detail`, `advice`, `told`) and `notes`.
""",
    "stress": """\
Levels: `arithmetic` compares what is derived with an independent definition, token by token; `numeric` a run that goes
on from cached state with a cold one; `oracle` with another implementation on the same weights; `faults` puts faults
into the running engine and looks whether they are found. Without `--level`, an option that only some levels take
chooses those, and without such an option `arithmetic` runs, and `numeric` where there is a model. Lengths are
half-open ranges: `1:1001`, `27`, `1:130,4095:4098`.

JSON: `checks` (done), `cells` (of the whole run), `findings`, `runs`, one a level and subject (`level`, `subject`,
`asked`, `geometry`, `seed`, `lengths`, `options`, `cells`, `modes`, `answers`, `faults`), `groups` of findings and
`found`, those of faults that were put in (`first`, `count`, `where`: what their lengths have in common),
`first_findings` (events, see `BoundaryChecked` in [events.md](events.md); at most 1,000), `naive` (with `--naive`:
`subject`, `num_lengths`, `num_same`, `ours_s`, `naive_s`, `num_measured`, `share`), `log` (the record, or null),
`interrupted`. A mode has `level`, `subject`, `mode`, `first` and `last` (lengths), `checks`, `outcomes` (how often
each), `findings`, `difference` and `noise` (largest of a logit), `answers_lost` (a share). Answers of trained models
have `fault`, `length` and `needles` (`before`: tokens before the length, `whole` and `faulty`: share answered rightly,
0 to 1). With `--fault list` there is only `faults`, each with `fault`, `kind` and `what`. A fault has `subject`,
`fault` (empty: none was put in), `checks`, `found`, `missed`, `hidden`, `false_alarms`, `offset_as_predicted`,
`offset_other`, `kind_right`, `layer_right`, `row_right`, `named`, `least`, `difference` and `reasons` (why it cannot be
seen, how often).
""",
    "export": """\
Every picture says of itself which run, event, geometry and how much of it it shows; stderr says so too, and who drew
it. What no event speaks of is drawn as unknown, never as absent. A file is written whole or not at all.

`-f json` writes one object: `diagram` (its name), `version` and `content`, described field by field in
[export-schema.json](export-schema.json). How to choose a diagram and a format:
[export a picture](../how-to/export-a-picture.md).
""",
    "lint-log": """\
JSON: `lines` (of the form), `other_lines`, `lookups`, `incomplete` (lookups that lack a line), `wrong_lookups`,
`num_contradictions`, `contradictions` (the first 1,000, each with `line`, `claim`, `found`, `expected`, `why`,
`lookup_line`, `length`), `unread` (numbers of the first lines that cannot be read), `num_unread`, `torn` (number of the
last line, if it is cut off, or 0) and `no_geometry` (a lookup came before any init line). What is checked:
[check a log of lookups](../how-to/check-a-lookup-log.md).
""",
    "memory": """\
JSON: `length`, `tables` (`geometry`, `row_format`, `length`, `kinds`, `total_bytes`, `marginal_bytes`; a kind has
`kind`, `part`, `layers`, `rows`, `row_bytes`, `total_bytes`, `marginal_bytes`) and `resume_prices` (`geometry`,
`row_format`, `tail_bytes`, `window_bytes`, `n_win`).
""",
    "doctor": """\
JSON: `ok` (every format can be made here), `parts` and `formats`, each with `name`, `ok`, `detail` (version and place,
or who draws it), `advice` (what follows where it is missing) and `command` (which mends it).

Trees are laid out by Graphviz: by the program that `SHADOWVIZ_DOT` names, else by `dot` on the PATH, else by the Python
package graphviz-pure, else by the layout that is built in. That one also draws where Graphviz fails or takes longer
than 20 seconds, and trees of more than 2,000 nodes or 24 levels. PNG and PDF are typeset with fonts that come along;
characters that those lack are taken from the fonts of the machine.
""",
    "tui": """\
No JSON. `?` shows the keys, each with the id that a file of `--keys` names. Without a terminal, or with `--plain`, the
screen is printed as text. `--web` needs the extra `web`, and prints an address whose last part is a secret; its page
loads nothing from elsewhere, and takes requests of this machine's browsers alone. What the screens show:
[screens](screens.md).
""",
    "version": """\
JSON: `shadowviz`, `schema`, `python`, `torch`.
""",
}


def reference() -> str:
    """The page, whole."""
    names = [str(command.name) for command in app.registered_commands]
    parts = [f"\n## {name}\n\n```text\n{_help(name)}\n```\n\n{JSON[name]}" for name in names]
    return HEAD + "".join(parts)


def _help(name: str) -> str:
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        main([name, "--help"])
    return "\n".join(line.rstrip() for line in screen.getvalue().strip().splitlines())


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")

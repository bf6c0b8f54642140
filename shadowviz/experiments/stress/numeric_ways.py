"""The ways in which a run goes on: requests on a real engine for some lengths, and the verdict on each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from shadowviz.experiments.stress.cold_runs import ColdRun
from shadowviz.experiments.stress.compare import first_differences
from shadowviz.experiments.stress.numeric_cells import Part, Setting, go_on, store, verdict
from shadowviz.experiments.stress.numeric_modes import chunk_of
from shadowviz.experiments.stress.witness import Seen, Trial
from shadowviz.experiments.stress.work import CellResult
from shadowviz_engine.runtime.request import Request

Way = Callable[[Setting, Sequence[int]], Iterator[CellResult]]

_COLD_CHUNKS = 16
"""Chunks of a prompt up to which it is run cold in them."""
_OTHER = 1
"""Added to a seed for tokens that have nothing in common with the master tokens."""


def prime(setting: Setting, trial: Trial, lengths: Sequence[int], stop: int) -> None:
    """Store what the retention needs to make every one of `lengths` a point to go on from.

    Whole master tokens up to `stop` where all rows stay; else a path for each length, whose end is promised.
    """
    if setting.mode.retention == "all":
        trial.run_stored([store("prime", setting.prompt(stop))], setting.cold)
        return
    requests = [store(f"prime {length}", setting.prompt(length)) for length in lengths]
    # The first one alone: the others then compute no more than what lies between them.
    trial.run_stored(requests[:1], setting.cold)
    trial.run_stored(requests[1:], setting.cold)


def _prime_pages(setting: Setting, lengths: Sequence[int]) -> int:
    stop = setting.subject.stop_of(lengths[-1])
    if setting.mode.retention == "all":
        return setting.pages([(stop, 0)])
    return setting.pages([(stop, 0), *((length, setting.resumed_at(lengths[0])) for length in lengths)])


def _resumes(setting: Setting, lengths: Sequence[int]) -> list[Request]:
    return [go_on(str(length), setting.prompt(setting.subject.stop_of(length)), length) for length in lengths]


def _resume_pages(setting: Setting, lengths: Sequence[int]) -> int:
    return setting.pages([(setting.subject.stop_of(length), setting.resumed_at(length)) for length in lengths])


def _resumed(setting: Setting, trial: Trial, length: int) -> Part:
    at = setting.resumed_at(length)
    stored = [name for name in ("whole", "prime", f"prime {length}") if name in trial.seen]
    return Part("the run that goes on", trial.seen[str(length)], at, at, tuple(trial.seen[name] for name in stored))


def batch(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """All lengths go on in one pass, beside a prompt that begins and a request that decodes."""
    stop = setting.subject.stop_of(lengths[-1])
    others = setting.subject.tokens(2 * setting.subject.largest_ratio + 40, setting.seed + _OTHER).tolist()
    pages = _prime_pages(setting, lengths) + _resume_pages(setting, lengths) + setting.pages([(len(others) + 8, 0)] * 2)
    with setting.trial(pages) as trial:
        prime(setting, trial, lengths, stop)
        trial.engine.submit(Request(id="decodes", token_ids=others[:20], max_tokens=6, namespace="other"))
        trial.engine.step()
        trial.engine.submit(store("begins", others, "another"))
        trial.run(_resumes(setting, lengths), setting.cold)
        yield from (verdict(setting, length, [_resumed(setting, trial, length)]) for length in lengths)


def resumed(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """One request at a time."""
    with setting.trial(_prime_pages(setting, lengths) + _resume_pages(setting, lengths)) as trial:
        prime(setting, trial, lengths, setting.subject.stop_of(lengths[-1]))
        for length, request in zip(lengths, _resumes(setting, lengths), strict=True):
            trial.run([request], setting.cold)
            yield verdict(setting, length, [_resumed(setting, trial, length)])


def twice(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """What a run stored that went on is gone on from once more; each length in a namespace of its own."""
    stops = {length: setting.subject.stop_of(length) for length in lengths}
    middles = {length: length + max(1, (stop - length) // 2) for length, stop in stops.items()}
    with setting.trial(setting.pages([(stop, 0) for stop in stops.values()] * 3)) as trial:
        names = {length: f"of {length}" for length in lengths}
        trial.run_stored([store(f"store {n}", setting.prompt(n), names[n]) for n in lengths], setting.cold)
        trial.run([go_on(f"first {n}", setting.prompt(middles[n]), n, names[n]) for n in lengths], setting.cold)
        trial.run([go_on(f"second {n}", setting.prompt(stops[n]), middles[n], names[n]) for n in lengths], setting.cold)
        for length in lengths:
            first, second = setting.resumed_at(length), setting.resumed_at(middles[length])
            parts = [
                Part("the stored run", trial.seen[f"store {length}"], 0, 0),
                Part("the run that goes on", trial.seen[f"first {length}"], first, first),
                Part("the run that goes on from it", trial.seen[f"second {length}"], second, first),
            ]
            yield verdict(setting, length, parts)


def forked(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """The stored path parts from the prompt at the length; afterwards that path goes on as if nothing had been."""
    paths = {length: _other_path(setting, length) for length in lengths}
    stops = {length: setting.subject.stop_of(length) for length in lengths}
    counts = [(len(path), 0) for path in paths.values()] * 2 + [(stop, 0) for stop in stops.values()]
    with setting.trial(setting.pages(counts)) as trial:
        names = {length: f"of {length}" for length in lengths}
        trial.run([store(f"other {n}", paths[n], names[n]) for n in lengths], None)
        trial.run([store(str(n), setting.prompt(stops[n]), names[n]) for n in lengths], setting.cold)
        ends = {length: len(path) - 1 for length, path in paths.items()}
        trial.run([go_on(f"again {n}", paths[n], ends[n], names[n]) for n in lengths], None)
        for length in lengths:
            trial.settle_by(f"again {length}", np.array(paths[length]), f"other {length}")
            again = Part("the path beside it", trial.seen[f"again {length}"], setting.resumed_at(ends[length]))
            yield verdict(setting, length, [_resumed(setting, trial, length), again])


def _other_path(setting: Setting, length: int) -> list[int]:
    """Master tokens to `length`, then others: one where only a path's end is promised, else up to two windows."""
    vocab_size = setting.model.config.vocab_size
    extra = 1
    if setting.mode.retention == "all":
        extra += (length * 7 + setting.seed) % (2 * setting.subject.geometry.n_win + 3)
    others = setting.subject.tokens(extra, setting.seed + _OTHER + length).tolist()
    others[0] = (int(setting.tokens[length]) + 1 + others[0] % (vocab_size - 1)) % vocab_size
    return [*setting.prompt(length), *others]


def evicted(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """Everything is stored anew in slots that another prompt had before."""
    stop = setting.subject.stop_of(lengths[-1])
    others = setting.subject.tokens(len(setting.tokens), setting.seed + _OTHER).tolist()
    pages = _prime_pages(setting, lengths) + _resume_pages(setting, lengths)
    with setting.trial(max(pages, setting.pages([(len(others), 0)]))) as trial:
        trial.run_unwatched([store("filler", others)])
        trial.engine.cache.evict(len(others))
        prime(setting, trial, lengths, stop)
        trial.run(_resumes(setting, lengths), setting.cold)
        yield from (verdict(setting, length, [_resumed(setting, trial, length)]) for length in lengths)


def healed(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """The master tokens are stored and their window rows leave; a run to each length brings its rows back."""
    whole = len(setting.tokens)
    pages = setting.pages([(whole, 0)] + [(length, 0) for length in lengths]) + _resume_pages(setting, lengths)
    scarce = setting.pages([(whole, 0)]) + 2
    presses = setting.mode.retention == "all"
    # What presses the window's rows out keeps its entries.
    room = (pages + 16 * scarce, scarce) if presses else (pages, pages)
    with setting.trial(room[0], swa_pages=room[1]) as trial:
        trial.run_stored([store("whole", setting.prompt(whole))], setting.cold)
        if presses:
            _press(setting, trial)
        for length in lengths:
            heal = f"heal {length}"
            trial.run_stored([store(heal, setting.prompt(length))], setting.cold)
            trial.run(_resumes(setting, [length]), setting.cold)
            healing = Part("the run that heals", trial.seen[heal], start=0)
            yield verdict(setting, length, [healing, _resumed(setting, trial, length)])


def _press(setting: Setting, trial: Trial) -> None:
    """Store other prompts until the window rows of the master tokens had to leave."""
    size = setting.subject.geometry.page_size
    for number in range(len(setting.tokens)):
        if not trial.engine.probe(setting.prompt(len(setting.tokens))).usable:
            return
        others = setting.subject.tokens(2 * size, setting.seed + _OTHER + number).tolist()
        trial.run_unwatched([store(f"filler {number}", others, "other")])


def chunked(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """What is stored was computed at once, runs go on in chunks; the lengths of a call share the size.

    Where few chunks make up a prompt, it is run cold in them as well.
    """
    chunk = chunk_of(lengths[0])
    small = {length for length in lengths if length <= _COLD_CHUNKS * chunk}
    pages = _prime_pages(setting, lengths) + _resume_pages(setting, lengths)
    pages += setting.pages([(length, 0) for length in small])
    with setting.trial(pages) as trial:
        prime(setting, trial, lengths, setting.subject.stop_of(lengths[-1]))
        trial.engine.limit_chunks(chunk)
        for length, request in zip(lengths, _resumes(setting, lengths), strict=True):
            trial.run([request], setting.cold)
            parts = [_resumed(setting, trial, length)]
            if length in small:
                alone = f"cold {length}"
                trial.run_stored([store(alone, setting.prompt(length), f"of {length}")], setting.cold)
                parts.append(Part("the cold run in chunks", trial.seen[alone], 0, 0))
            yield verdict(setting, length, parts)


def tokens(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """The prompt has one token behind the length, all that follows is drawn; a cold run of the same tokens decides."""
    stops = {length: setting.subject.stop_of(length) for length in lengths}
    with setting.trial(_prime_pages(setting, lengths) + _resume_pages(setting, lengths)) as trial:
        prime(setting, trial, lengths, setting.subject.stop_of(lengths[-1]))
        trial.run([_generate(setting, length, stops[length] - length) for length in lengths], None)
        for length in lengths:
            output = trial.engine.outputs[str(length)].token_ids
            # The state of the last generated token is never computed.
            path = np.array([*setting.prompt(length + 1), *output[:-1]])
            run = setting.cold_of(path, setting.resumed_at(length))
            trial.settle(str(length), run)
            part = _resumed(setting, trial, length)
            yield verdict(setting, length, [replace(part, stored=(*part.stored, _apart(setting, run, length)))])


def _apart(setting: Setting, run: ColdRun, length: int) -> Seen:
    """Where cold runs of the same tokens part: what is stored was compared with one, what follows with another."""
    found = Seen()
    for turn, traced in enumerate(run.queries(length)):
        found.add(first_differences([traced], {0: setting.cold}, setting.noise, turn).get(0))
    return found


def _generate(setting: Setting, length: int, count: int) -> Request:
    """Goes on at `length` and draws, so that no output falls into a loop as the likeliest tokens would."""
    return Request(
        id=str(length),
        token_ids=setting.prompt(length + 1),
        max_tokens=count,
        temperature=1.0,
        seed=setting.seed,
        logprob_start=length,
    )


def cold(setting: Setting, lengths: Sequence[int]) -> Iterator[CellResult]:
    """Nothing is there to be reused; each length in a namespace of its own."""
    with setting.trial(setting.pages([(length, 0) for length in lengths])) as trial:
        requests = [store(str(length), setting.prompt(length), f"of {length}") for length in lengths]
        trial.run(requests, setting.cold)
        for length in lengths:
            yield verdict(setting, length, [Part("the cold run", trial.seen[str(length)], 0, 0)])


RUNS: dict[str, Way] = {
    "batch": batch,
    "resumed": resumed,
    "twice": twice,
    "forked": forked,
    "healed": healed,
    "evicted": evicted,
    "chunked": chunked,
    "tokens": tokens,
    "cold": cold,
}
"""By the names of `numeric_modes.WAYS`."""

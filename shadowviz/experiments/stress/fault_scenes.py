"""Scenes that provoke faults of the bookkeeping: requests on an engine, and the one that is held against a cold run."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shadowviz.experiments.stress.numeric_cells import UNCUT, go_on, store
from shadowviz.experiments.stress.subject_runs import Subject, cached_subject
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.sinks import NullSink
from shadowviz_engine.model.numerics import BLOCK, Numerics
from shadowviz_engine.model.step import Ints
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request
from shadowviz_engine.runtime.scheduler import chunk_stop

LOOKED_AT = "looked at"
"""Id of the request that is held against a cold run."""
_ELSEWHERE = "elsewhere"
"""Namespace of requests whose rows are nobody else's."""


@dataclass(frozen=True)
class Script:
    """What runs on an engine of its own at one length, and the request that is looked at."""

    tokens: Ints
    """Prompt of the request that is looked at."""
    reused: int
    """Tokens that it has to reuse."""
    num_pages: int
    """Of either pool."""
    prepare: Callable[[Engine], None]
    """Runs what comes before."""
    cap: int = -1
    """Most tokens that the request may reuse; -1 = all but the last."""
    retention: str = "all"
    beside: tuple[Request, ...] = ()
    """Submitted together with the request, behind it."""

    def options(self, faults: tuple[str, ...]) -> EngineOptions:
        """The engine with faults."""
        return EngineOptions(
            numerics=Numerics.EXACT,
            resume=ResumeRule.ANY,
            retention=self.retention,
            chunk_tokens=UNCUT,
            num_full_pages=self.num_pages,
            num_swa_pages=self.num_pages,
            faults=faults,
        )

    @property
    def request(self) -> Request:
        """The one that is looked at."""
        return Request(id=LOOKED_AT, token_ids=self.tokens.tolist(), max_tokens=1, logprob_start=self.cap)


@dataclass(frozen=True)
class _Stage:
    """Tokens and sizes of a scene at one length."""

    subject: Subject
    seed: int
    length: int

    @property
    def stop(self) -> int:
        """Where a run that goes on stops."""
        return self.subject.stop_of(self.length)

    @property
    def page(self) -> int:
        """Tokens of a page."""
        return self.subject.geometry.page_size

    def master(self, stop: int) -> Ints:
        """The first master tokens."""
        return self.subject.tokens(stop, self.seed)

    def others(self, stop: int) -> Ints:
        """Tokens that differ from the master tokens at every position."""
        vocab_size = self.subject.model(Numerics.EXACT).config.vocab_size
        shifts = np.random.default_rng([self.seed, 2]).integers(1, vocab_size, stop)
        return (self.master(stop) + shifts) % vocab_size

    def pages(self, *tokens: int) -> int:
        """Pages for requests of so many tokens that share nothing."""
        return sum(count // self.page + 2 for count in tokens)

    def whole_pages(self, tokens: int) -> int:
        """Pages that so many tokens from the first one on fill or begin."""
        return -(-tokens // self.page)


def _run(engine: Engine, *requests: Request) -> None:
    """Run requests together to their end."""
    for request in requests:
        engine.submit(request)
    engine.run()


def _again(at: _Stage) -> Script:
    """The same prompt twice: the second time one token is left to compute."""
    prompt = at.master(at.length + 1)
    return Script(
        prompt,
        at.length,
        at.pages(len(prompt), len(prompt)),
        lambda engine: _run(engine, store("first", prompt.tolist())),
        retention="window",
    )


def _forked(at: _Stage) -> Script:
    """A path leaves the stored one at the length; then that goes on a token behind."""
    path = at.master(at.stop)
    fork = np.concatenate([path[: at.length], at.others(at.stop)[at.length :]])

    def prepare(engine: Engine) -> None:
        _run(engine, store("path", path.tolist()))
        _run(engine, go_on("fork", fork.tolist(), at.length))

    return Script(path, at.length + 1, at.pages(at.stop, at.stop, at.stop), prepare, cap=at.length + 1)


def _twins(at: _Stage) -> Script:
    """Two equal prompts run together; then another takes the slots that are free, and the prompt goes on."""
    twin = at.master(at.length).tolist()
    filler = at.others(at.whole_pages(at.length) * at.page).tolist()

    def prepare(engine: Engine) -> None:
        _run(engine, store("one", twin), store("two", twin))
        _run(engine, store("filler", filler, _ELSEWHERE))

    pages = at.pages(at.length, at.length, len(filler), at.stop)
    return Script(at.master(at.stop), at.length, pages, prepare, cap=at.length)


def _aborted(at: _Stage) -> Script:
    """A prompt is given up when all but its last token are computed; then it comes again, and longer."""
    prompt = at.master(at.length + 1)

    def prepare(engine: Engine) -> None:
        engine.submit(store("given up", prompt.tolist()))
        computed = 0
        while computed < at.length:
            engine.limit_chunks(at.length - computed)
            engine.step()
            computed = chunk_stop(computed, len(prompt), at.length - computed, BLOCK)
        engine.abort("given up")
        engine.limit_chunks(UNCUT)

    return Script(at.master(at.stop), 0, at.pages(at.length + 1, at.stop), prepare)


def _answered(at: _Stage) -> Script:
    """A request gives one token, and the next one goes on behind that."""
    asked = at.master(at.length).tolist()
    tokens = at.master(at.stop)
    tokens[at.length] = _answer(at.subject.name, at.seed, at.length)
    pages = at.pages(at.length, at.stop)
    return Script(tokens, at.length, pages, lambda engine: _run(engine, store("asks", asked)))


@lru_cache(maxsize=4096)
def _answer(subject: str, seed: int, length: int) -> int:
    """The token that a sound engine gives for the master tokens."""
    at = _Stage(cached_subject(subject), seed, length)
    options = Script(at.master(0), 0, at.pages(length), lambda _: None).options(())
    with Engine(options, NullSink(), model=at.subject.model(Numerics.EXACT)) as engine:
        _run(engine, store("asks", at.master(length).tolist()))
    return engine.outputs["asks"].token_ids[0]


def _healed(at: _Stage) -> Script:
    """The window's rows of a stored path are freed, come back with a run to the length, and the path goes on there."""
    far = at.length + at.subject.geometry.n_win + 2 * at.subject.largest_ratio + 2

    def prepare(engine: Engine) -> None:
        _run(engine, store("whole", at.master(far).tolist()))
        _run(engine, store("heal", at.master(at.length).tolist()))

    pages = at.pages(far, at.length, at.stop)
    return Script(at.master(at.stop), at.length, pages, prepare, cap=at.length, retention="window")


def _evicted(at: _Stage) -> Script:
    """Everything leaves the cache, and the path is stored in slots that another had before, of which some stay free."""
    needed = at.whole_pages(at.length) + at.whole_pages(at.stop) - at.length // at.page
    others = at.others(needed * at.page + 1).tolist()

    def prepare(engine: Engine) -> None:
        _run(engine, store("others", others, _ELSEWHERE))
        engine.flush()
        _run(engine, store("path", at.master(at.length).tolist()))

    pages = at.pages(len(others), at.length, at.stop)
    return Script(at.master(at.stop), at.length, pages, prepare, cap=at.length)


def _pressed(at: _Stage) -> Script:
    """A request goes on, and one beside it finds room for itself only where the other's reused path lies."""
    stored = at.whole_pages(at.length)
    beside = store("beside", at.others(stored * at.page).tolist(), _ELSEWHERE)
    return Script(
        at.master(at.stop),
        at.length,
        stored + at.whole_pages(at.stop) - at.length // at.page,
        lambda engine: _run(engine, store("path", at.master(at.length).tolist())),
        cap=at.length,
        beside=(beside,),
    )


_SCENES: dict[str, Callable[[_Stage], Script]] = {
    "again": _again,
    "forked": _forked,
    "twins": _twins,
    "aborted": _aborted,
    "answered": _answered,
    "healed": _healed,
    "evicted": _evicted,
    "pressed": _pressed,
}
SCENES = tuple(_SCENES)
"""Names of all scenes."""


def script_of(scene: str, subject: Subject, seed: int, length: int) -> Script:
    """The scene at one length; the same for the same numbers, whatever is put in."""
    return _SCENES[scene](_Stage(subject, seed, length))


def drawn_scene(seed: int, mode: str, length: int) -> str:
    """The scene of a blind run, which is no secret; empty in half of them: one request goes on from a stored path."""
    chance = random.Random(f"blind scene {seed} {mode} {length}")
    return chance.choice(SCENES) if chance.randrange(2) else ""

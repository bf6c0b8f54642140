"""Level `faults`: named faults put into the running engine, openly, and blind by another process that draws them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cached_property

from shadowviz.experiments.stress.blind import check_blind
from shadowviz.experiments.stress.cold_runs import EXACT, ColdRun
from shadowviz.experiments.stress.fault_plays import cold_of_script, play
from shadowviz.experiments.stress.fault_runs import (
    MOST_BEYOND,
    Scene,
    options_with,
    request_at,
    scene_of,
    stop_of,
    store_paths,
)
from shadowviz.experiments.stress.fault_scenes import SCENES, script_of
from shadowviz.experiments.stress.fault_traps import TRAP_FAULTS
from shadowviz.experiments.stress.fault_verdicts import Sighting, Truth, sharpened, truth_of, verdict
from shadowviz.experiments.stress.numeric_modes import choose_lengths
from shadowviz.experiments.stress.recall import ANSWERS, FIRST, LAST, LENGTHS, check_answers
from shadowviz.experiments.stress.recall import FAULTS as ASKED
from shadowviz.experiments.stress.subject_runs import cached_subject, run_cold
from shadowviz.experiments.stress.witness import Trial
from shadowviz.experiments.stress.work import CellResult, Group, Plan
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import Event, FaultInjected
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.faults import MODEL_FAULTS, faults_of, place_fault

NONE = "none"
"""Mode without a fault: whatever differs there is a false alarm."""
SOUND_SCENES = {f"{NONE}/{scene}": scene for scene in SCENES}
"""Modes that play a scene of the bookkeeping without a fault."""
BLIND = "blind"
ALL = "all"
_USUAL_BLIND = 12
_MOST_BLIND = 100_000
_LENGTHS = 24
"""Lengths of a fault where more are asked for, half of them beside boundaries."""
_FEW = 64
"""Lengths up to which all are taken."""
_GROUP = 12
_COLD_BYTES = 512 * 2**20
_OPTIONS = ("blind", "fault")


def work_of(plan: Plan) -> FaultWork:
    """The plan made ready: its model is loaded.

    Raises:
        ShadowvizError: a subject, mode or option that there is none of.
    """
    return FaultWork(plan)


class FaultWork:
    """Lengths of one model, a mode for each fault, one with none, and blind ones."""

    left_out: tuple[str, ...] = ()

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._subject = cached_subject(plan.subject)
        self._faults = {fault.name: fault for fault in faults_of(self.geometry)}
        self._num_blind = _blind_runs(plan)
        self.modes = self._modes()
        self._cold: dict[tuple[int, int], ColdRun] = {}

    @property
    def geometry(self) -> Geometry:
        """Geometry of the model."""
        return self._subject.geometry

    @property
    def subject(self) -> str:
        """Name of the model."""
        return self._subject.name

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """All lengths that are asked for, ascending; nothing is reused before the first token."""
        return self.plan.positive_lengths()

    def groups(self) -> Sequence[Group]:
        """Cells of every mode, in groups that share an engine."""
        chosen = self.lengths
        if len(chosen) > _FEW:
            chosen = choose_lengths(self.geometry, chosen, _LENGTHS)
        found: list[Group] = []
        for mode in self.modes:
            lengths = self._lengths_of(mode, chosen)
            found += [Group(mode, lengths[first : first + _GROUP]) for first in range(0, len(lengths), _GROUP)]
        return found

    def check(self, group: Group) -> Iterator[CellResult]:
        """Results of a group."""
        if _is_answers(group.mode):
            yield from check_answers(self._subject, group)
        elif _is_blind(group.mode):
            yield from check_blind(self._subject, self.plan.seed, group, self._cold_of)
        elif group.mode in TRAP_FAULTS or group.mode in SOUND_SCENES:
            yield from self._check_scene(group)
        else:
            yield from self._check_resumed(group)

    def _check_scene(self, group: Group) -> Iterator[CellResult]:
        """A scene of the bookkeeping, on an engine of its own at each length."""
        fault = TRAP_FAULTS.get(group.mode)
        name = SOUND_SCENES[group.mode] if fault is None else fault.scenes[0]
        master = scene_of(self._subject, max(map(self._subject.stop_of, group.lengths)), self.plan.seed)
        cold = self._cold_of(master, group.lengths[0])
        for length in group.lengths:
            script = script_of(name, self._subject, self.plan.seed, length)
            expected = cold_of_script(script, self._subject, cold, length)
            seen = play(script, master.model, () if fault is None else (fault.name,), expected)
            truth = Truth()
            if fault is not None:
                truth = fault.truth(self.geometry, length, len(script.tokens), master.tokens)
            yield verdict(group.mode, length, seen, truth)

    def _check_resumed(self, group: Group) -> Iterator[CellResult]:
        """One request goes on from a stored path."""
        fault = None if group.mode == NONE else self._faults[group.mode.partition("@")[0]]
        stops = [stop_of(self._subject, fault, length) for length in group.lengths]
        scene = scene_of(self._subject, max(stops), self.plan.seed)
        cold = self._cold_of(scene, group.lengths[0])
        names = () if fault is None else (group.mode,)
        with _Watched(options_with(scene.model, len(scene.tokens), names), scene.model, EXACT) as trial:
            store_paths(trial.engine, scene)
            for length, stop in zip(group.lengths, stops, strict=True):
                request = request_at(scene, length, stop)
                trial.run([request], cold)
                seen = trial.seen[request.id]
                assert seen.reused == length, f"went on at {seen.reused}, not at {length}"
                truth = Truth()
                if fault is not None:
                    acted = trial.acted.get(request.id)
                    truth = truth_of(group.mode, fault, self.geometry, length, stop, acted)
                    truth = sharpened(truth, self.geometry, length, stop, cold)
                yield verdict(group.mode, length, Sighting(seen.difference, seen.logits), truth)

    def _cold_of(self, scene: Scene, first: int) -> ColdRun:
        """The cold run of all tokens that may be wanted, or of a scene's alone where the vocabulary is large."""
        model = scene.model
        most = self._subject.stop_of(self.lengths[-1]) + MOST_BEYOND
        wide = most * model.config.vocab_size * 4 > _COLD_BYTES
        key = (len(scene.tokens), first) if wide else (most, 0)
        if key not in self._cold:
            # One at a time: the logits of a large vocabulary fill the memory.
            tokens = scene.tokens if wide else self._subject.tokens(most, self.plan.seed)
            self._cold = {key: run_cold(model, tokens, logits=Extent(key[1], len(tokens)))}
        return self._cold[key]

    def _modes(self) -> tuple[str, ...]:
        """Modes of the plan.

        Raises:
            InputError: a fault that there is not.
        """
        wanted = self.plan.options.get("fault", "" if "blind" in self.plan.options else ALL)
        names = self._modes_for(wanted) if wanted else ()
        rounds = -(-self._num_blind // max(1, len(self.lengths)))
        blind = tuple(BLIND if number == 0 else f"{BLIND}/{number + 1}" for number in range(rounds))
        asked = ASKED.get(self.subject, {})
        all_answers = tuple(f"{ANSWERS}/{name}" for name in asked) or (ANSWERS,)
        answers = tuple(f"{ANSWERS}/{name}" for name in asked if wanted in (ALL, name))
        modes = tuple(one for mode in self.plan.modes for one in (all_answers if mode == ANSWERS else (mode,)))
        for mode in modes:
            if _is_answers(mode) and mode.partition("/")[2] not in asked:
                known = ", ".join(asked) or "none"
                raise InputError(f"mode {mode[:60]!r} of {self.subject}: expected answers with one of: {known}")
            if mode != NONE and mode not in SOUND_SCENES and not _is_blind(mode) and not _is_answers(mode):
                self._check_fault(mode)
        return modes or (*names, *answers, *blind)

    def _modes_for(self, wanted: str) -> tuple[str, ...]:
        """A mode for each fault that is wanted, behind the same without one."""
        if wanted == ALL:
            return (NONE, *SOUND_SCENES, *self._faults, *TRAP_FAULTS)
        self._check_fault(wanted)
        trap = TRAP_FAULTS.get(wanted)
        return (NONE if trap is None else f"{NONE}/{trap.scenes[0]}", wanted)

    def _check_fault(self, name: str) -> None:
        stem = name.partition("@")[0]
        if name not in TRAP_FAULTS and stem not in MODEL_FAULTS:
            known = ", ".join((*self._faults, *TRAP_FAULTS))
            raise InputError(f"no fault is called {stem[:40]!r}: expected one of {known}")
        if name not in TRAP_FAULTS:
            place_fault(name, self.geometry)

    def _lengths_of(self, mode: str, chosen: tuple[int, ...]) -> tuple[int, ...]:
        if _is_answers(mode):
            # What was chosen for logits is mostly too long for the questions.
            some = LENGTHS[self.subject] if len(self.lengths) > _FEW else self.lengths
            return tuple(length for length in some if FIRST <= length <= LAST and length in self.lengths)
        return self._blind_lengths(mode) if _is_blind(mode) else chosen

    def _blind_lengths(self, mode: str) -> tuple[int, ...]:
        """Lengths of the blind runs of one round: all, or as many drawn as are left."""
        number = int(mode.partition("/")[2] or 1) - 1
        left = max(1, self._num_blind - number * len(self.lengths))
        if self.plan.modes or left >= len(self.lengths):
            return self.lengths
        chance = random.Random(f"lengths of blind runs {self.plan.seed} {mode}")
        return tuple(sorted(chance.sample(self.lengths, left)))


class _Watched(Trial):
    """A trial that also notes where faults acted."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        self.acted: dict[str, tuple[int, int]] = {}
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def emit(self, event: Event, /) -> None:
        """Note lookups and faults."""
        super().emit(event)
        if isinstance(event, FaultInjected) and event.request:
            self.acted[event.request] = (event.layer, event.row)


def _is_answers(mode: str) -> bool:
    return mode.partition("/")[0] == ANSWERS


def _is_blind(mode: str) -> bool:
    return mode.partition("/")[0] == BLIND


def _blind_runs(plan: Plan) -> int:
    """Blind runs of a plan."""
    unknown = sorted(set(plan.options) - set(_OPTIONS))
    if unknown:
        raise InputError(f"level faults has no option {unknown[0]!r}: expected one of {', '.join(_OPTIONS)}")
    text = plan.options.get("blind", str(0 if "fault" in plan.options else _USUAL_BLIND))
    if not (text.isascii() and text.isdigit() and 0 <= int(text[:9]) <= _MOST_BLIND):
        raise InputError(f"blind {text[:40]!r}: expected a number of runs from 0 to {_MOST_BLIND}")
    return int(text)

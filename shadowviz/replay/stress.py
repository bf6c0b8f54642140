"""What results of boundary stress mean: findings, and sums by mode and by fault."""

from collections.abc import Iterable

import msgspec

from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, Event

FAULTS = "faults"
"""The level where a difference is what is wanted: it proves that the fault is found."""
ANSWERS = "answers"
"""Modes of that level that ask a trained model: `answers/FAULT`."""
FOUND = "found"
"""Outcome of a check that differs because of a fault that was put in."""
OUTCOMES = ("same", "near_tie", FOUND, "refused", "missed", "differs")
"""From good to bad."""
FINDINGS = ("refused", "missed", "differs")
"""Outcomes that speak against the engine, or against the checker."""
MAX_FINDINGS = 1000
"""Findings that sums keep whole."""
MAX_ANSWERS = 1000
"""Checks of answers that sums keep whole."""
MAX_REASONS = 20
"""Reasons for not being seen that sums tell apart."""


def outcome_of(check: BoundaryChecked) -> str:
    """What a check came to, a difference that was wanted told apart; unknown outcomes count as differences."""
    if check.outcome == "differs" and check.level == FAULTS and check.fault:
        return FOUND
    return check.outcome if check.outcome in OUTCOMES else "differs"


def is_finding(check: BoundaryChecked) -> bool:
    """Whether a check speaks against the engine, or against the checker."""
    return outcome_of(check) in FINDINGS


def is_about_answers(mode: str) -> bool:
    """Whether a mode of the level of faults asks a trained model."""
    return mode.partition("/")[0] == ANSWERS


def answers_lost(check: BoundaryChecked) -> float:
    """Largest share of right answers that the check's state costs; no difference of logits."""
    return max((before - after for _, before, after in check.answers), default=0.0)


class ModeSums(msgspec.Struct, kw_only=True):
    """Checks of one mode of one subject."""

    level: str
    subject: str
    mode: str
    first: int
    """Shortest length."""
    last: int
    checks: int = 0
    outcomes: dict[str, int] = {}
    """Checks by outcome; those that there are."""
    findings: int = 0
    difference: float = 0.0
    """Largest difference of a logit."""
    noise: float = 0.0
    """Largest difference of cold against cold."""
    answers_lost: float = 0.0
    """Largest share of right answers that was lost; no difference of logits."""

    def add(self, check: BoundaryChecked) -> None:
        """Count one more."""
        outcome = outcome_of(check)
        self.first, self.last = min(self.first, check.length), max(self.last, check.length)
        self.checks += 1
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.findings += outcome in FINDINGS
        self.difference = max(self.difference, check.difference)
        self.noise = max(self.noise, check.noise)
        self.answers_lost = max(self.answers_lost, answers_lost(check))


class FaultSums(msgspec.Struct, kw_only=True):
    """Checks of one subject with one fault put in; without a name, those with none."""

    subject: str
    """Empty = of several."""
    fault: str
    checks: int = 0
    """Lengths at which the fault was put in."""
    found: int = 0
    missed: int = 0
    """Should have been seen and was not."""
    hidden: int = 0
    """Cannot be seen there."""
    false_alarms: int = 0
    """Differences with no fault put in."""
    offset_as_predicted: int = 0
    offset_other: int = 0
    """Found, with a first visible offset that is not the predicted one."""
    kind_right: int = 0
    layer_right: int = 0
    row_right: int = 0
    named: int = 0
    """Found faults that have a kind to be named."""
    least: float = 0.0
    """Smallest difference of a logit where the fault was found and logits differ."""
    difference: float = 0.0
    """Largest."""
    reasons: dict[str, int] = {}
    """Why it cannot be seen, with how often."""

    def add(self, check: BoundaryChecked) -> None:
        """Count one more."""
        outcome = outcome_of(check)
        self.checks += 1
        self.missed += outcome == "missed"
        self.false_alarms += outcome == "differs"
        self.difference = max(self.difference, check.difference)
        if outcome == FOUND:
            self._add_found(check)
        elif outcome == "same" and check.fault:
            self.hidden += 1
            reason = check.detail or "no reason given"
            if reason in self.reasons or len(self.reasons) < MAX_REASONS:
                self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def take_in(self, other: "FaultSums") -> None:
        """Count the checks of another subject as well."""
        self.subject = ""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.least = min(filter(None, (self.least, other.least)), default=0.0)
        self.difference = max(self.difference, other.difference)
        for reason, times in other.reasons.items():
            if reason in self.reasons or len(self.reasons) < MAX_REASONS:
                self.reasons[reason] = self.reasons.get(reason, 0) + times

    def _add_found(self, check: BoundaryChecked) -> None:
        self.found += 1
        if check.difference:
            self.least = min(self.least or check.difference, check.difference)
        if check.predicted >= 0 and check.offset >= 0:
            self.offset_as_predicted += check.offset == check.predicted
            self.offset_other += check.offset != check.predicted
        if check.fault_kind:
            kind = check.kind == check.fault_kind
            layer = kind and check.layer == check.fault_layer
            self.named += 1
            self.kind_right += kind
            self.layer_right += layer
            self.row_right += layer and check.row == check.fault_row


_COUNTS = tuple(
    name for name in FaultSums.__struct_fields__ if isinstance(getattr(FaultSums(subject="", fault=""), name), int)
)


def over_subjects(faults: Iterable[FaultSums]) -> list[FaultSums]:
    """Sums by fault alone, in the order of their names; those of a single subject keep its name."""
    found: dict[str, FaultSums] = {}
    for one in sorted(faults, key=lambda one: (one.fault, one.subject)):
        if one.fault not in found:
            found[one.fault] = msgspec.structs.replace(one, reasons=dict(one.reasons))
        else:
            found[one.fault].take_in(one)
    return list(found.values())


class StressSums(msgspec.Struct):
    """A stress run summed up."""

    started: list[BoundaryStressStarted] = []
    """One a level and subject, in the order of the run."""
    modes: dict[tuple[str, str, str], ModeSums] = {}
    faults: dict[tuple[str, str], FaultSums] = {}
    answers: list[BoundaryChecked] = []
    """Checks of answers, at most `MAX_ANSWERS`."""
    findings: list[BoundaryChecked] = []
    """The first of them, at most `MAX_FINDINGS`."""
    checks: int = 0
    num_findings: int = 0

    def feed(self, event: Event) -> None:
        """Take in the next event of the run; other events are passed over."""
        if isinstance(event, BoundaryStressStarted):
            if all((one.level, one.subject) != (event.level, event.subject) for one in self.started):
                self.started.append(event)
        elif isinstance(event, BoundaryChecked):
            self._add(event)

    def _add(self, check: BoundaryChecked) -> None:
        self.checks += 1
        key = (check.level, check.subject, check.mode)
        sums = self.modes.get(key)
        if sums is None:
            sums = self.modes[key] = ModeSums(
                level=check.level, subject=check.subject, mode=check.mode, first=check.length, last=check.length
            )
        sums.add(check)
        if check.answers:
            # A fault that logits show may leave answers as they are, so these are no proof of its being found.
            if len(self.answers) < MAX_ANSWERS:
                self.answers.append(check)
        elif check.level == FAULTS and not is_about_answers(check.mode):
            fault = (check.subject, check.fault)
            if fault not in self.faults:
                self.faults[fault] = FaultSums(subject=check.subject, fault=check.fault)
            self.faults[fault].add(check)
        if is_finding(check):
            self.num_findings += 1
            if len(self.findings) < MAX_FINDINGS:
                self.findings.append(check)

    @property
    def cells(self) -> int:
        """Checks that the whole run gives."""
        return sum(event.cells for event in self.started)


def stress_sums(events: Iterable[Event]) -> StressSums:
    """The run that these events record, summed up."""
    sums = StressSums()
    for event in events:
        sums.feed(event)
    return sums


def finding_text(check: BoundaryChecked) -> str:
    """One finding in a line: where, and what differs first."""
    head = f"{check.level} of {check.subject}, {check.mode} at {check.length}: {outcome_of(check)}"
    parts = [head, _place(check)]
    if check.difference:
        parts.append(f"largest difference {check.difference:.3g}")
    if check.answers:
        parts.append(f"{answers_lost(check):.0%} of the answers lost")
    if check.fault:
        parts.append(f"fault {check.fault}")
    parts.append(check.detail)
    return "; ".join(part for part in parts if part)


def _place(check: BoundaryChecked) -> str:
    words = [check.kind] if check.kind else []
    words += [f"layer {check.layer}"] if check.layer >= 0 else []
    words += [f"row {check.row}"] if check.row >= 0 else []
    place = " ".join(words)
    if check.stage:
        place = f"{check.stage} {place}".rstrip()
    if check.offset >= 0:
        place += f"{', ' if place else ''}token {check.offset} behind the cut"
    return place

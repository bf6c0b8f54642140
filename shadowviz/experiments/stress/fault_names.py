"""The faults that there are, for whoever wants to name one."""

from collections.abc import Sequence

from shadowviz.experiments.stress.fault_traps import TRAP_FAULTS
from shadowviz.experiments.stress.subject_runs import subject_named
from shadowviz_engine.model.faults import MODEL_FAULTS, faults_of


def fault_list(subjects: Sequence[str]) -> list[dict[str, str]]:
    """All faults by name, with what each does, in the rows of which kind or as which trap of the bookkeeping.

    Of faults in rows those that any of the subjects can have.

    Raises:
        ShadowvizError: there is no such model.
    """
    chosen = [faults_of(subject_named(subject).geometry) for subject in subjects]
    found = {fault.name: fault for faults in chosen for fault in faults} if subjects else MODEL_FAULTS
    rows = [{"fault": fault.name, "kind": fault.kind, "trap": "", "what": fault.text} for fault in found.values()]
    return rows + [
        {"fault": fault.name, "kind": "", "trap": fault.trap, "what": fault.text} for fault in TRAP_FAULTS.values()
    ]

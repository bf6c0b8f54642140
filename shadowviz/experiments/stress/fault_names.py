"""The faults that there are, for whoever wants to name one."""

from collections.abc import Sequence

from shadowviz.experiments.stress.subject_runs import subject_named
from shadowviz_engine.model.faults import MODEL_FAULTS, faults_of


def fault_list(subjects: Sequence[str]) -> list[dict[str, str]]:
    """All faults by name, with what each does and in the rows of which kind; those that any of the subjects can have.

    Raises:
        ShadowvizError: there is no such model.
    """
    chosen = [faults_of(subject_named(subject).geometry) for subject in subjects]
    found = {fault.name: fault for faults in chosen for fault in faults} if subjects else MODEL_FAULTS
    return [{"fault": fault.name, "kind": fault.kind, "what": fault.text} for fault in found.values()]

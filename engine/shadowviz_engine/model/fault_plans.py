"""Index arrays of a step made wrong for the sequences that went on from reused state."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.fault_edits import PlanEdit
from shadowviz_engine.model.fault_forms import PlanFault
from shadowviz_engine.model.plan import BlockGroup, ClosingEntries, EntryTable, StepPlan
from shadowviz_engine.model.step import Ints, SequenceStep


@dataclass(frozen=True)
class ResumedSteps:
    """The sequences of a step, and where each went on."""

    config: ModelConfig
    steps: Sequence[SequenceStep]
    lengths: Ints
    """`[sequences]`: length that was reused; 0 = none, and the sequence is left alone."""
    full_to_swa: Ints


def spoil_plan(plan: StepPlan, fault: PlanFault, resumed: ResumedSteps) -> StepPlan:
    """`plan` with the fault in it; a plan of its own."""
    if fault.edit in _CLOSING:
        compressor = _compressor(fault, resumed)
        closing = plan.closing.get(compressor.name)
        if closing is None:
            return plan
        changed = _CLOSING[fault.edit](closing, compressor, resumed)
        return replace(plan, closing={**plan.closing, compressor.name: changed})
    if fault.edit in _WINDOWS:
        return replace(plan, groups=tuple(_WINDOWS[fault.edit](group, plan, resumed) for group in plan.groups))
    compressor = _compressor(fault, resumed)
    return replace(
        plan, groups=tuple(_spoil_table(group, fault.edit, compressor, plan, resumed) for group in plan.groups)
    )


def _spoil_table(
    group: BlockGroup, edit: PlanEdit, compressor: Compressor, plan: StepPlan, resumed: ResumedSteps
) -> BlockGroup:
    table = group.tables.get(compressor.name)
    if table is None:
        return group
    changed = _TABLES[edit](table, compressor, group, plan, resumed)
    return replace(group, tables={**group.tables, compressor.name: changed})


def _compressor(fault: PlanFault, resumed: ResumedSteps) -> Compressor:
    for item in resumed.config.used_compressors:
        if fault.kind.startswith(f"{item.name}_") or (item.indexed and fault.kind.startswith("index_")):
            return item
    raise AssertionError(f"{fault.name} was placed in a model without {fault.kind}")


def _overlap_dropped(closing: ClosingEntries, compressor: Compressor, resumed: ResumedSteps) -> ClosingEntries:
    """The entry that is open at the length does not see the window before it."""
    lengths = resumed.lengths[closing.owners]
    hit = (lengths > 0) & (closing.entries == lengths // compressor.ratio)
    absent = closing.absent.clone()
    overlap = compressor.ratio if compressor.overlap else 0
    absent[torch.from_numpy(np.flatnonzero(hit)), :overlap] = -torch.inf
    return replace(closing, absent=absent)


def _partial(closing: ClosingEntries, compressor: Compressor, resumed: ResumedSteps) -> ClosingEntries:
    """The entry that is open at the length is pooled from the tokens before it alone."""
    lengths = resumed.lengths[closing.owners]
    hit = (lengths > 0) & (closing.entries == lengths // compressor.ratio) & (lengths % compressor.ratio > 0)
    window = closing.absent.shape[1]
    tokens = (closing.entries[:, None] + 1) * compressor.ratio + np.arange(-window, 0)
    late = hit[:, None] & (tokens >= lengths[:, None])
    absent = closing.absent.clone()
    absent[: len(late)].masked_fill_(torch.from_numpy(late).to(absent.device).unsqueeze(-1), -torch.inf)
    return replace(closing, absent=absent)


def _turned_by(windows: int, tokens: int) -> Callable[[ClosingEntries, Compressor, ResumedSteps], ClosingEntries]:
    """Entries that close are rotated too far, by so many windows and tokens."""

    def edit(closing: ClosingEntries, compressor: Compressor, resumed: ResumedSteps) -> ClosingEntries:
        extra = windows * compressor.ratio + tokens
        hit = resumed.lengths[closing.owners] > 0
        positions = closing.positions.clone()
        positions[: len(hit)] += torch.from_numpy(hit * extra).to(positions.device)
        return replace(closing, positions=positions, furthest=closing.furthest + max(extra, 0))

    return edit


def _readers(group: BlockGroup, plan: StepPlan, resumed: ResumedSteps) -> tuple[Ints, Ints]:
    """Position of every query of a group, and the length that its sequence went on from."""
    return plan.row_positions[group.rows], resumed.lengths[plan.row_sequences[group.rows]]


def _unclosed(
    table: EntryTable, compressor: Compressor, group: BlockGroup, plan: StepPlan, resumed: ResumedSteps
) -> EntryTable:
    """Queries see the entry that is open at them."""
    positions, lengths = _readers(group, plan, resumed)
    visible = table.visible.flatten().cpu().numpy()
    opens = (lengths > 0) & ((positions + 1) % compressor.ratio > 0) & (visible < table.rows.shape[1])
    opens &= plan.row_is_real[group.rows]
    queries = np.flatnonzero(opens)
    entries = visible[queries]
    rows = table.rows.clone()
    for query, entry in zip(queries.tolist(), entries.tolist(), strict=True):
        step = resumed.steps[plan.row_sequences[group.first_row + query]]
        last = min(step.stop, (entry + 1) * compressor.ratio) - 1
        rows[query // group.width, entry] = int(step.slots[last]) // compressor.ratio
    at, column = torch.from_numpy(queries), torch.from_numpy(entries)
    seen = torch.from_numpy(visible + opens).to(table.visible.device).view_as(table.visible)
    unseen, bias = table.unseen, table.bias
    if unseen is not None:
        unseen = unseen.clone()
        unseen[at, column] = False
    if bias is not None:
        bias = _put_bias(bias, group, at, column, 0.0)
    return replace(table, rows=rows, visible=seen, unseen=unseen, bias=bias)


def _unranked(table: EntryTable, _: Compressor, group: BlockGroup, plan: StepPlan, resumed: ResumedSteps) -> EntryTable:
    """Queries may choose among the first entries only, as many as they may take."""
    if table.unseen is None:
        return table
    lengths = _readers(group, plan, resumed)[1]
    unseen = table.unseen.clone()
    unseen[torch.from_numpy(np.flatnonzero(lengths > 0)), resumed.config.index_topk :] = True
    return replace(table, unseen=unseen)


def _narrow(group: BlockGroup, plan: StepPlan, resumed: ResumedSteps) -> BlockGroup:
    """Queries do not see the oldest token of their window."""
    queries, columns, _ = _keys_at(group, plan, resumed, resumed.config.n_win - 1)
    bias = _put_bias(group.window_bias, group, queries, columns, -torch.inf)
    return replace(group, window_bias=bias)


def _wide(group: BlockGroup, plan: StepPlan, resumed: ResumedSteps) -> BlockGroup:
    """Queries see the token before their window."""
    queries, columns, keys = _keys_at(group, plan, resumed, resumed.config.n_win)
    rows = group.window_rows.clone()
    for query, column, key in zip(queries.tolist(), columns.tolist(), keys.tolist(), strict=True):
        step = resumed.steps[plan.row_sequences[group.first_row + query]]
        rows[query // group.width, column] = int(resumed.full_to_swa[step.slots[key]])
    bias = _put_bias(group.window_bias, group, queries, columns, 0.0)
    return replace(group, window_rows=rows, window_bias=bias)


def _keys_at(group: BlockGroup, plan: StepPlan, resumed: ResumedSteps, distance: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries that have a key so many tokens before them, its column, and its position."""
    positions, lengths = _readers(group, plan, resumed)
    keys = positions - distance
    first = plan.row_positions[group.rows].reshape(-1, group.width)[:, 0].repeat(group.width)
    columns = keys - first + group.window_rows.shape[1] - group.width
    hit = np.flatnonzero((lengths > 0) & plan.row_is_real[group.rows] & (keys >= 0) & (columns >= 0))
    return torch.from_numpy(hit), torch.from_numpy(columns[hit]), torch.from_numpy(keys[hit])


def _put_bias(bias: Tensor, group: BlockGroup, queries: Tensor, columns: Tensor, value: float) -> Tensor:
    """`[blocks, width * heads, keys]` with `value` at one column of each of some queries, for all heads."""
    changed = bias.clone()
    changed.view(group.num_queries, -1, bias.shape[2])[queries, :, columns] = value
    return changed


_CLOSING: Mapping[PlanEdit, Callable[[ClosingEntries, Compressor, ResumedSteps], ClosingEntries]] = {
    PlanEdit.OVERLAP_DROPPED: _overlap_dropped,
    PlanEdit.PARTIAL: _partial,
    PlanEdit.NEXT_ROPE: _turned_by(1, 0),
    PlanEdit.END_ROPE: _turned_by(1, -1),
}
_WINDOWS: Mapping[PlanEdit, Callable[[BlockGroup, StepPlan, ResumedSteps], BlockGroup]] = {
    PlanEdit.NARROW: _narrow,
    PlanEdit.WIDE: _wide,
}
_TABLES: Mapping[PlanEdit, Callable[[EntryTable, Compressor, BlockGroup, StepPlan, ResumedSteps], EntryTable]] = {
    PlanEdit.UNCLOSED: _unclosed,
    PlanEdit.UNRANKED: _unranked,
}

"""The model: runs steps of many sequences over paged state."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.model.attention import StepContext, Turns, attention_block
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.compressor import Pooling
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.hyper import collapse, collapse_head, expand
from shadowviz_engine.model.indexer import NEAR_TIE, Chosen
from shadowviz_engine.model.layers import RopeTable, normalise
from shadowviz_engine.model.moe import dense_experts, rank_experts, route, routed_experts
from shadowviz_engine.model.numerics import KERNELS, SHAPES, Numerics, padded, threads
from shadowviz_engine.model.params import LayerParams, model_params, vocabulary_params
from shadowviz_engine.model.plan import BlockGroup, StepPlan
from shadowviz_engine.model.planner import plan_step
from shadowviz_engine.model.step import Ints, NearTie, Observer, Selection, SequenceStep, StepResult, check_steps
from shadowviz_engine.model.trace import STATE_AND_READS, Stage, Stages, StepTrace, Trace
from shadowviz_engine.model.vocabulary import SharedProduct

_DENSE_EXPERTS = 16
"""Up to so many experts, one product over all of them costs less than sorting rows by expert."""


class Transformer:
    """DeepSeek-V4 with the weights of `tensors`, the state dict of DeepseekV4ForCausalLM.

    Raises:
        ModelError: `exact` on another device than the CPU, or in another type than float32.
    """

    def __init__(
        self,
        config: ModelConfig,
        tensors: Mapping[str, Tensor],
        numerics: Numerics = Numerics.EXACT,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.config = config
        self.numerics = numerics
        self.device = torch.device(device)
        self.dtype = dtype
        if numerics is Numerics.EXACT and (self.device.type != "cpu" or dtype is not torch.float32):
            raise ModelError(f"exact numerics on {device} in {dtype}: expected cpu and torch.float32, or use fast")
        self._params = model_params(config, tensors, self.device, dtype)
        self._main = RopeTable(config.rope_main, self.device)
        self._compress = RopeTable(config.rope_compress, self.device)
        head = vocabulary_params(config, tensors, self.device, dtype)
        self._kernels = kernels = KERNELS[numerics]
        self._head: Callable[[Tensor], Tensor] = lambda rows: kernels.linear(rows, head)
        if numerics is Numerics.FAST and self.device.type == "cpu":
            self._head = SharedProduct(head)
        dense = numerics is Numerics.EXACT or config.num_experts <= _DENSE_EXPERTS
        self._experts = dense_experts if dense else routed_experts
        self.observer: Observer | None = None
        """Called with every selection of an indexer that has entries to choose from; None = nobody looks."""
        self.trace: Trace | None = None
        """Called with all that the layers of a step find, store and read; None = nobody looks, and nothing is spent."""
        self.stages: Stages = STATE_AND_READS
        """What of it `trace` is told."""
        self.tamper: Callable[[StepPlan], StepPlan] | None = None
        """Gives the plan that a step uses in place of its own: for faults that are put in on purpose."""

    def make_buffers(self, num_full_slots: int, num_swa_slots: int) -> StateBuffers:
        """State rows on the model's device, in its type."""
        return StateBuffers(self.config, num_full_slots, num_swa_slots, self.device, self.dtype)

    def forward(self, steps: Sequence[SequenceStep], full_to_swa: Ints, buffers: StateBuffers) -> StepResult:
        """Compute the tokens of `steps`, store their state in `buffers`, give the logits of each step's last token.

        Raises:
            ModelError: a step that cannot be computed, or a needed row without an SWA slot; nothing is stored then.
        """
        plan, streams, near_ties = self._run(steps, full_to_swa, buffers)
        return StepResult(self._logits(streams, plan.last_rows), near_ties)

    def forward_all(
        self,
        steps: Sequence[SequenceStep],
        full_to_swa: Ints,
        buffers: StateBuffers,
        firsts: Sequence[int] | None = None,
    ) -> tuple[tuple[Tensor, ...], tuple[NearTie, ...]]:
        """As `forward`, but the logits `[tokens, vocabulary]` of every computed token of every step.

        Args:
            firsts: for each step the position, in [start, stop), from which on logits are wanted; None = from start on.

        Raises:
            ModelError: as `forward`.
        """
        starts = [step.start for step in steps] if firsts is None else firsts
        plan, streams, near_ties = self._run(steps, full_to_swa, buffers)
        logits = self._logits(streams, _rows_from(plan, starts))
        counts = [step.stop - first for step, first in zip(steps, starts, strict=True)]
        return tuple(torch.split(logits, counts)), near_ties

    def forward_rows(
        self, steps: Sequence[SequenceStep], full_to_swa: Ints, buffers: StateBuffers, firsts: Sequence[int]
    ) -> tuple[Tensor, tuple[NearTie, ...]]:
        """As `forward_all`, but the rows `[tokens, hidden]` that `logits` takes, one step's behind another's.

        The logits of many tokens of a large vocabulary fill the memory.

        Raises:
            ModelError: as `forward`.
        """
        plan, streams, near_ties = self._run(steps, full_to_swa, buffers)
        wanted = _rows_from(plan, firsts)
        with torch.inference_mode(), self._threads():
            return self._final(streams, wanted)[: len(wanted)], near_ties

    def logits(self, rows: Tensor) -> Tensor:
        """`[n, vocabulary]` in float32, of rows `[n, hidden]` that `forward_rows` gave."""
        count = padded(len(rows), SHAPES[self.numerics].row_multiple)
        with torch.inference_mode(), self._threads():
            return self._head(F.pad(rows, (0, 0, 0, count - len(rows))))[: len(rows)].float()

    def _run(
        self, steps: Sequence[SequenceStep], full_to_swa: Ints, buffers: StateBuffers
    ) -> tuple[StepPlan, Tensor, tuple[NearTie, ...]]:
        """The plan, the streams `[rows, n, hidden]` behind the last layer, and the near ties."""
        check_steps(self.config, steps, buffers.num_full_slots)
        plan = plan_step(self.config, steps, full_to_swa, self.numerics, self.device, self.dtype)
        with torch.inference_mode(), self._threads():
            if self.tamper is not None:
                plan = self.tamper(plan)
            trace = None
            if self.trace is not None:
                trace = StepTrace(self.trace, self.config, steps, full_to_swa, plan, self.stages)
            context = self._context(plan, buffers, trace)
            rows = F.embedding(plan.token_ids, self._params.embedding)
            streams = rows.unsqueeze(1).expand(-1, self.config.hc_mult, -1).contiguous()
            for layer, params in enumerate(self._params.layers):
                streams = self._layer(params, layer, streams, context)
            if trace is not None and Stage.HEAD in trace.stages:
                real = np.flatnonzero(plan.row_is_real)
                trace.headed(self._final(streams, real)[: len(real)])
            return plan, streams, self._look_at_choices(context)

    def _threads(self) -> AbstractContextManager[None]:
        # Several threads would share a tensor out at places that depend on its size.
        return threads(1) if self.numerics is Numerics.EXACT else nullcontext()

    def _context(self, plan: StepPlan, buffers: StateBuffers, trace: StepTrace | None) -> StepContext:
        return StepContext(
            config=self.config,
            kernels=self._kernels,
            plan=plan,
            turns_main=self._turns(self._main, plan),
            turns_compress=self._turns(self._compress, plan),
            poolings={
                name: Pooling(entries, self._compress.turns(entries.positions, entries.furthest))
                for name, entries in plan.closing.items()
            },
            buffers=buffers,
            choices=[],
            trace=trace,
        )

    def _turns(self, table: RopeTable, plan: StepPlan) -> Turns:
        forward = table.turns(plan.positions, plan.furthest)
        heads = forward.unsqueeze(1)
        return Turns(forward, heads, heads.conj().resolve_conj())

    def _layer(self, params: LayerParams, layer: int, streams: Tensor, context: StepContext) -> Tensor:
        """`[rows, n, hidden]` to the same: attention, then experts, each between two hyper-connections."""
        collapsed, weights, mixing = collapse(params.attention_site, streams, self._kernels)
        rows = normalise(collapsed, params.attention_norm)
        streams = expand(streams, attention_block(params.attention, layer, rows, context), weights, mixing)
        collapsed, weights, mixing = collapse(params.moe_site, streams, self._kernels)
        rows = normalise(collapsed, params.moe_norm)
        chosen, shares = route(params.moe, rows, context.plan.token_ids, self._kernels)
        if context.trace is not None and Stage.ROUTE in context.trace.stages and params.moe.bias is not None:
            context.trace.routed(layer, chosen, rank_experts(params.moe, rows, self._kernels))
        return expand(streams, self._experts(params.moe, rows, chosen, shares, self._kernels), weights, mixing)

    def _logits(self, streams: Tensor, rows: Ints) -> Tensor:
        """`[len(rows), vocabulary]` in float32."""
        with torch.inference_mode(), self._threads():
            return self._head(self._final(streams, rows))[: len(rows)].float()

    def _final(self, streams: Tensor, rows: Ints) -> Tensor:
        """`[len(rows) and padding, hidden]`: what goes into the product with the vocabulary."""
        count = padded(len(rows), SHAPES[self.numerics].row_multiple)
        index = torch.from_numpy(np.resize(rows, count)).to(self.device)
        collapsed = collapse_head(self._params.head_site, streams.index_select(0, index), self._kernels)
        return normalise(collapsed, self._params.norm)

    def _look_at_choices(self, context: StepContext) -> tuple[NearTie, ...]:
        """Near ties of the step's real queries; tells the observer what was chosen."""
        plan = context.plan
        ties: list[NearTie] = []
        for layer, group, chosen in context.choices:
            if self.observer is not None:
                self._tell(plan, layer, group, chosen)
            if chosen.margin is None:
                continue
            close = torch.nonzero(chosen.margin < NEAR_TIE).flatten()
            margins = chosen.margin.index_select(0, close).tolist()
            for row, margin in zip((close + group.first_row).tolist(), margins, strict=True):
                if plan.row_is_real[row]:
                    ties.append(NearTie(layer, int(plan.row_sequences[row]), int(plan.row_positions[row]), margin))
        return tuple(ties)

    def _tell(self, plan: StepPlan, layer: int, group: BlockGroup, chosen: Chosen) -> None:
        assert self.observer is not None
        compressor = self.config.compressor_of(layer)
        assert compressor is not None
        visible = group.tables[compressor.name].visible.flatten().tolist()
        for row, entries in enumerate(chosen.entries.tolist()):
            at = group.first_row + row
            if plan.row_is_real[at] and visible[row]:
                seen = tuple(entry for entry in entries if entry < visible[row])
                self.observer(Selection(layer, int(plan.row_sequences[at]), int(plan.row_positions[at]), seen))


def _rows_from(plan: StepPlan, firsts: Sequence[int]) -> Ints:
    """Rows of the step's real tokens from a position of each sequence on, one sequence behind another."""
    wanted = np.array(firsts, np.int64)
    rows = np.flatnonzero(plan.row_is_real & (plan.row_positions >= wanted[plan.row_sequences]))
    return rows[np.argsort(plan.row_sequences[rows], kind="stable")]

"""transformers' DeepseekV4ForCausalLM as an independent oracle: its cold runs, with every row that it stores.

Sound for one unpadded sequence from position 0, through a `DynamicCache` made from the configuration, with eager
attention. Scores of its indexer that tie are told apart by an order that depends on the length of the row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shadowviz.experiments.stress.cold_runs import ColdRun, Reads, pad_columns, pad_values
from shadowviz.experiments.stress.random_models import random_config
from shadowviz.experiments.stress.subject_runs import RANDOM
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.config_json import config_to_json
from shadowviz_engine.model.numerics import threads
from shadowviz_engine.model.presets import MODEL_PRESETS, TRAINED, model_preset
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.step import Ints
from shadowviz_engine.model.weights import load_model
from shadowviz_engine.runtime.assembly import CHECKPOINTS

_NOT_OF_TRANSFORMERS = ("architectures", "model_type", "csa_overlap")
_KV, _GATE = " kv", " gate"
LEAST_WINDOW = 2
"""With a window of one token its cache keeps all rows instead of none."""


@dataclass(frozen=True)
class OracleRun:
    """A run of the oracle: the rows it stored, what its indexer scored and chose, and its last hidden states."""

    tokens: Ints
    state: Mapping[tuple[str, int], Tensor]
    reads: Mapping[tuple[str, int], Reads]
    hidden: Tensor
    head: Callable[[Tensor], Tensor]

    def logits(self, start: int, stop: int) -> Tensor:
        """`[stop - start, vocabulary]`; worked out when asked for, as those of a whole run may be large."""
        with torch.no_grad(), threads(1):
            return self.head(self.hidden[start:stop])

    def cold(self, start: int, stop: int) -> ColdRun:
        """The run with logits of positions [start, stop), for comparison with a run of the engine."""
        return ColdRun(self.tokens, self.state, self.reads, self.logits(start, stop), start)


class Oracle:
    """transformers' model with the weights of a subject.

    Raises:
        InputError: transformers is not there, or cannot run the model.
    """

    def __init__(self, config: ModelConfig, weights: Mapping[str, Tensor]) -> None:
        try:
            from transformers import DeepseekV4Config, DeepseekV4ForCausalLM
        except ImportError as error:
            raise InputError(f"level oracle needs transformers with DeepseekV4ForCausalLM: {error}") from error
        if config.n_win < LEAST_WINDOW:
            raise InputError(f"transformers cannot go on with a window of {config.n_win}: expected {LEAST_WINDOW}")
        values = {name: value for name, value in config_to_json(config).items() if name not in _NOT_OF_TRANSFORMERS}
        settings: Any = DeepseekV4Config(**values)
        settings._attn_implementation = settings._experts_implementation = "eager"
        self._model: Any = DeepseekV4ForCausalLM(settings)
        self._model.train(False)
        self._model.load_state_dict(dict(weights), strict=True)
        self._config = config

    @torch.no_grad()
    def run(self, tokens: Ints, cuts: Sequence[int] = ()) -> OracleRun:
        """Run `tokens` from the first one on; a pass ends at each of `cuts`."""
        from transformers import DynamicCache

        record = _Record(self._config, self._model, cache := DynamicCache(config=self._model.config))
        with threads(1):
            try:
                parts = []
                for start, stop in pairwise((0, *cuts, len(tokens))):
                    record.start = start
                    ids = torch.from_numpy(tokens[start:stop])[None]
                    parts.append(self._model.model(ids, cache=cache).last_hidden_state[0])
            finally:
                record.remove()
        return OracleRun(tokens, record.state(), record.reads(), torch.cat(parts), self._model.lm_head)


class _Record:
    """Takes down what the modules of a model store and choose, pass by pass."""

    def __init__(self, config: ModelConfig, model: Any, cache: Any) -> None:
        self.start = 0
        """Position of the first token of the pass."""
        self._cache = cache
        self._config = config
        self._rows: dict[tuple[str, int], list[Tensor]] = defaultdict(list)
        self._scores: dict[int, list[tuple[int, Tensor]]] = defaultdict(list)
        self._chosen: dict[int, list[tuple[int, Tensor]]] = defaultdict(list)
        self._handles: list[Any] = []
        for number, layer in enumerate(model.model.layers):
            self._watch_window(number, cache.layers[number])
            compressor = config.compressor_of(number)
            if compressor is None:
                continue
            pooled = layer.self_attn.compressor
            self._watch_tail(f"{compressor.name}_tail", number, pooled)
            if compressor.indexed:
                self._watch_tail("index_tail", number, pooled.indexer)
                self._watch_choice(number, pooled.indexer)

    def remove(self) -> None:
        """Look no more."""
        for handle in self._handles:
            handle.remove()

    def state(self) -> dict[tuple[str, int], Tensor]:
        """All rows by kind and layer."""
        found = {key: torch.cat(parts) for key, parts in self._rows.items()}
        # A raw row holds kv and gate of a token behind one another.
        for label, number in [key for key in found if key[0].endswith(_KV)]:
            tail = label.removesuffix(_KV)
            found[tail, number] = torch.cat([found.pop((label, number)), found.pop((tail + _GATE, number))], dim=-1)
        for number, layer in enumerate(self._cache.layers):
            compressor = self._config.compressor_of(number)
            if compressor is None:
                continue
            for name, entries in layer.compressed_kv.items():
                if entries is not None:
                    found["index_k" if name == "indexer" else f"{compressor.name}_kv", number] = entries[0]
        return found

    def reads(self) -> dict[tuple[str, int], Reads]:
        """Scores of the indexer, and the entries that it chose; those have no values."""
        found: dict[tuple[str, int], Reads] = {}
        for number, passes in self._scores.items():
            ratio = self._ratio(number)
            found["index_k", number] = _joined([_scored(start, scores, ratio) for start, scores in passes])
        for number, passes in self._chosen.items():
            found[f"{self._name(number)}_kv", number] = _joined([_choices(start, chosen) for start, chosen in passes])
        return found

    def _name(self, number: int) -> str:
        compressor = self._config.compressor_of(number)
        assert compressor is not None, "only layers with a compressor are watched"
        return compressor.name

    def _ratio(self, number: int) -> int:
        return next(item.ratio for item in self._config.compressors if item.name == self._name(number))

    def _watch_window(self, number: int, layer: Any) -> None:
        plain = layer.update

        def update(keys: Tensor, *rest: Any, **named: Any) -> Any:
            self._rows["swa_kv", number].append(keys[0, 0].clone())
            return plain(keys, *rest, **named)

        layer.update = update

    def _watch_tail(self, label: str, number: int, module: Any) -> None:
        for part, linear in ((_KV, module.kv_proj), (_GATE, module.gate_proj)):
            rows = self._rows[label + part, number]
            self._handles.append(linear.register_forward_hook(_appending(rows)))

    def _watch_choice(self, number: int, indexer: Any) -> None:
        for found, module in ((self._scores[number], indexer.scorer), (self._chosen[number], indexer)):
            self._handles.append(module.register_forward_hook(self._placing(found)))

    def _placing(self, found: list[tuple[int, Tensor]]) -> Callable[[Any, Any, Tensor], None]:
        return lambda module, inputs, output: found.append((self.start, output[0].clone()))  # noqa: ARG005


def _appending(rows: list[Tensor]) -> Callable[[Any, Any, Tensor], None]:
    return lambda module, inputs, output: rows.append(output[0].clone())  # noqa: ARG005


def _scored(start: int, scores: Tensor, ratio: int) -> Reads:
    """Scores `[queries, entries]` of a pass from position `start`."""
    readers = np.arange(start, start + scores.shape[0])
    entries = np.arange(scores.shape[1])
    columns = np.where(entries < (readers[:, None] + 1) // ratio, entries, -1)
    values = scores.masked_fill(torch.from_numpy(columns < 0), 0)
    return Reads(readers, columns, values.unsqueeze(-1))


def _choices(start: int, chosen: Tensor) -> Reads:
    """Entries `[queries, top_k]` that a pass from position `start` chose; -1 = none."""
    entries = chosen.numpy()
    # Ascending, with what is no entry behind.
    ordered = np.sort(np.where(entries < 0, np.iinfo(np.int64).max, entries), axis=1)
    columns = np.where(ordered == np.iinfo(np.int64).max, -1, ordered)
    return Reads(np.arange(start, start + len(columns)), columns, torch.zeros(*columns.shape, 1))


def _joined(parts: Sequence[Reads]) -> Reads:
    width = max(part.columns.shape[1] for part in parts)
    return Reads(
        np.concatenate([part.readers for part in parts]),
        np.concatenate([pad_columns(part.columns, width) for part in parts]),
        torch.cat([pad_values(part.values, width) for part in parts]),
    )


def oracle_of(subject: str) -> Oracle:
    """The oracle with the weights that the engine gives `subject`: a preset, `random:SEED`, or a model directory.

    Raises:
        ShadowvizError: there is no such model, or transformers cannot run it.
    """
    if subject in MODEL_PRESETS:
        config = model_preset(subject)
        return Oracle(config, random_weights(config, 0))
    if subject.startswith(RANDOM):
        seed = int(subject.removeprefix(RANDOM))
        config, _ = random_config(seed)
        return Oracle(config, random_weights(config, seed))
    return Oracle(*load_model(CHECKPOINTS / subject if subject in TRAINED else Path(subject)))

"""Loading and saving model directories: config.json and safetensors, in one file or in shards."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.config_json import config_to_json, read_config
from shadowviz_engine.model.names import ExpertPart, expected_shapes, state_name

INDEX_FILE = "model.safetensors.index.json"
SINGLE_FILE = "model.safetensors"
_QUANTISED_SUFFIXES = (".scale", ".weight_scale", ".weight_scale_inv", ".qweight", ".qzeros", ".scales")
_SHOWN = 3


def load_model(directory: Path) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Configuration and state dict of a DeepseekV4ForCausalLM directory.

    Tensors may bear the names of the class or those that its `save_pretrained` writes, which are the original
    release's.

    Raises:
        ModelError: another class, a quantised form, a missing or torn file, a missing, unexpected or misshapen tensor.
    """
    config = read_config(directory)
    files = _weight_files(directory)
    return config, load_tensors(config, files)


def load_tensors(config: ModelConfig, files: Iterable[Path]) -> dict[str, Tensor]:
    """State dict of `config` from safetensors files.

    Raises:
        ModelError: a torn file, a quantised form, a missing, unexpected or misshapen tensor.
    """
    tensors: dict[str, Tensor] = {}
    parts: dict[ExpertPart, Tensor] = {}
    for path in files:
        for name, tensor in _read_file(path).items():
            _require_plain(name, tensor)
            target = state_name(name)
            if isinstance(target, ExpertPart):
                parts[target] = tensor
            elif target is not None:
                tensors[target] = tensor
    tensors |= _stack_experts(config, parts)
    if config.tie_embeddings:
        tensors.pop("lm_head.weight", None)
    check_tensors(config, tensors)
    return tensors


def check_tensors(config: ModelConfig, tensors: Mapping[str, Tensor]) -> None:
    """Raise a ModelError unless `tensors` is a complete state dict of `config`."""
    shapes = expected_shapes(config)
    missing = [name for name in shapes if name not in tensors]
    if missing:
        raise ModelError(f"the weights lack {_listed(missing)}: expected every tensor of the state dict")
    unexpected = [name for name in tensors if name not in shapes]
    if unexpected:
        raise ModelError(f"the weights hold {_listed(unexpected)}, which this configuration has no place for")
    for name, shape in shapes.items():
        if tuple(tensors[name].shape) != shape:
            raise ModelError(f"tensor {name} has shape {list(tensors[name].shape)}: expected {list(shape)}")
        kind = tensors[name].dtype
        if kind.is_floating_point == name.endswith("tid2eid") or kind.is_complex:
            raise ModelError(f"tensor {name} is of type {kind}: expected plain float weights and integer expert tables")
        if (
            name.endswith("tid2eid")
            and not 0 <= int(tensors[name].min()) <= int(tensors[name].max()) < config.num_experts
        ):
            raise ModelError(f"tensor {name} names an expert outside of 0..{config.num_experts - 1}")


def save_model(directory: Path, config: ModelConfig, tensors: Mapping[str, Tensor]) -> None:
    """Write config.json and model.safetensors into `directory`, which is made if it is not there.

    Raises:
        ModelError: `tensors` is no complete state dict of `config`; nothing is written then.
    """
    check_tensors(config, tensors)
    directory.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, directory / SINGLE_FILE)
    text = json.dumps(config_to_json(config), indent=2, sort_keys=True)
    (directory / "config.json").write_text(text + "\n", encoding="utf-8")


def _weight_files(directory: Path) -> list[Path]:
    """The files that hold the weights: those of the index if there is one, else the single file."""
    index = directory / INDEX_FILE
    if not index.exists():
        single = directory / SINGLE_FILE
        if not single.exists():
            raise ModelError(f"{directory} holds neither {SINGLE_FILE} nor {INDEX_FILE}")
        return [single]
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{index} cannot be read: expected an object with a weight_map ({error})") from error
    outside = [name for name in names if Path(name).name != name]
    if outside:
        raise ModelError(f"{index} names {outside[0]}: expected files of its own directory")
    missing = [name for name in names if not (directory / name).exists()]
    if missing:
        raise ModelError(f"{directory} lacks {_listed(missing)}, which {INDEX_FILE} names")
    return [directory / name for name in names]


def _read_file(path: Path) -> dict[str, Tensor]:
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path} is no whole safetensors file: {error}") from error


def _require_plain(name: str, tensor: Tensor) -> None:
    packed = tensor.is_floating_point() and tensor.element_size() == 1
    scaled = name.endswith(_QUANTISED_SUFFIXES) and not name.endswith("_hc.scale")
    if packed or scaled:
        raise ModelError(f"the weights are quantised ({name} is {tensor.dtype}): convert them to plain floats first")


def _stack_experts(config: ModelConfig, parts: Mapping[ExpertPart, Tensor]) -> dict[str, Tensor]:
    """Stacked tensors from each expert's own matrices."""
    stacked: dict[str, Tensor] = {}
    for name in dict.fromkeys(part.name for part in parts):
        wanted = ("down",) if name.endswith("down_proj") else ("gate", "up")
        experts = []
        for expert in range(config.num_experts):
            found = [parts.get(ExpertPart(name, expert, part)) for part in wanted]
            whole = [tensor for tensor in found if tensor is not None]
            if len(whole) < len(wanted):
                raise ModelError(f"the weights lack expert {expert} of {name}: expected {config.num_experts} experts")
            experts.append(torch.cat(whole))
        stacked[name] = torch.stack(experts)
    surplus = next((part for part in parts if part.expert >= config.num_experts), None)
    if surplus is not None:
        raise ModelError(f"the weights hold expert {surplus.expert} of {surplus.name}: expected {config.num_experts}")
    return stacked


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"

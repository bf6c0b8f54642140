"""Ratios measured in one run, side by side with other projects, each beside its bar: `make bench`."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from shadowviz.experiments.bench_export import ExportSizes, export_part
from shadowviz.experiments.bench_log import LogSizes, log_part
from shadowviz.experiments.bench_model import ModelSizes, model_part
from shadowviz.experiments.bench_report import Facts, Part, to_markdown, to_text, to_values
from shadowviz.experiments.bench_reuse import ReuseSizes, reuse_part
from shadowviz.experiments.bench_runs import Say
from shadowviz.experiments.bench_tree_peers import TreeSizes, tree_part
from shadowviz.experiments.bench_tui import TuiSizes, tui_part
from shadowviz.experiments.peers import FOLDER, SGLANG

PARTS = ("tree", "model", "recording", "reuse", "tui", "export")


@dataclass(frozen=True)
class Sizes:
    """How much each part measures."""

    tree: TreeSizes
    model: ModelSizes
    recording: LogSizes
    reuse: ReuseSizes
    tui: TuiSizes
    export: ExportSizes


FULL = Sizes(
    tree=TreeSizes(nseq=2_000, length=2_048, rounds=3),
    model=ModelSizes(context=512, decoded=32, prefill=2_048, rounds=7),
    recording=LogSizes(requests=16, prompt=512, decoded=32, rounds=7, events=20_000, writes=40),
    reuse=ReuseSizes(lengths=(2_560, 5_120), rounds=5),
    tui=TuiSizes(nodes=1_000_000, keys=100),
    export=ExportSizes(requests=20_000, copies=46, traced=1_000_000, rounds=3),
)
QUICK = Sizes(
    tree=TreeSizes(nseq=400, length=2_048, rounds=1),
    model=ModelSizes(context=256, decoded=16, prefill=2_048, rounds=3),
    recording=LogSizes(requests=8, prompt=512, decoded=16, rounds=3, events=20_000, writes=10),
    reuse=ReuseSizes(lengths=(2_560,), rounds=2),
    tui=TuiSizes(nodes=100_000, keys=40),
    export=ExportSizes(requests=2_000, copies=30, traced=20_000, rounds=3),
)


def run_parts(names: Sequence[str], sizes: Sizes, folder: Path, say: Say) -> list[Part]:
    """The parts called `names`, one after another; `folder` holds the peers' environment, or will."""
    runs: Mapping[str, Callable[[], Part]] = {
        "tree": lambda: tree_part(sizes.tree, folder, say),
        "model": lambda: model_part(sizes.model, say),
        "recording": lambda: log_part(sizes.recording, say),
        "reuse": lambda: reuse_part(sizes.reuse, say),
        "tui": lambda: tui_part(sizes.tui, say),
        "export": lambda: export_part(sizes.export, say),
    }
    return [runs[name]() for name in names]


def facts() -> Facts:
    """Processor, threads and versions; nothing that names the machine."""
    import torch

    versions = [f"{name} {_version(name)}" for name in ("shadowviz", "torch", "transformers", "numpy", "msgspec")]
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "threads of torch": str(torch.get_num_threads()),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": ", ".join([*versions, SGLANG.requirement.replace("==", " ")]),
        "allocator": "as `make` sets it" if "MALLOC_TRIM_THRESHOLD_" in os.environ else "its own settings",
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(none)"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; a bar that is not met is no error, since the machine may be busy."""
    parser = argparse.ArgumentParser(prog="python -m shadowviz.experiments.bench", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="measure this part; may be given again")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds, for a first look")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--markdown", action="store_true", help="print Markdown tables")
    options = parser.parse_args(arguments)
    measured_on = facts() | ({"sizes": "quick: small, for a first look"} if options.quick else {})
    parts = run_parts(options.part or PARTS, QUICK if options.quick else FULL, FOLDER, _say)
    if options.json:
        sys.stdout.write(json.dumps(to_values(measured_on, parts), indent=2) + "\n")
    else:
        sys.stdout.write((to_markdown if options.markdown else to_text)(measured_on, parts))
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"bench: {line}\n")


if __name__ == "__main__":
    sys.exit(main())

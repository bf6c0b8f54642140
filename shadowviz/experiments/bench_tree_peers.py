"""Our prefix tree beside SGLang's, in alternating runs on the same prompts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from shadowviz.experiments.bench_report import AtLeast, AtMost, Figure, Part, Ratio
from shadowviz.experiments.bench_runs import Say, median_ratio
from shadowviz.experiments.bench_tree import tree_figures
from shadowviz.experiments.peers import PeerError, build_peers, peer_figures
from shadowviz.experiments.tree_figures import TreeFigures
from shadowviz.experiments.workload import workload

PAGE_SIZE = 256

_Statistic = Callable[[TreeFigures], float]

_STATISTICS: Mapping[str, tuple[_Statistic, str]] = {
    "insert p50": (lambda tree: tree.insert.p50_us, "us"),
    "full match p50": (lambda tree: tree.full_match.p50_us, "us"),
    "partial match p50": (lambda tree: tree.partial_match.p50_us, "us"),
    "miss p50": (lambda tree: tree.miss.p50_us, "us"),
    "evicting": (lambda tree: tree.evict_tokens_per_s / 1e6, "million tokens/s"),
}

_BARS = (
    ("full match p50", "rust", AtMost(0.5)),
    ("full match p50", "python", AtMost(0.1)),
    ("insert p50", "rust", AtMost(0.25)),
    ("evicting", "rust", AtLeast(1.0)),
    ("insert p50", "python", None),
    ("partial match p50", "rust", None),
    ("miss p50", "rust", None),
)


@dataclass(frozen=True)
class TreeSizes:
    """Prompts and their length in tokens, and how often each tree is timed."""

    nseq: int
    length: int
    rounds: int


def tree_part(sizes: TreeSizes, folder: Path, say: Say) -> Part:
    """Latencies of both, and ours alone where the peers' environment in `folder` cannot be had."""
    missing = list(build_peers(folder, say))
    ours: list[TreeFigures] = []
    theirs: list[dict[str, TreeFigures]] = []
    for number in range(sizes.rounds):
        say(f"tree: round {number + 1} of {sizes.rounds}")
        ours.append(tree_figures(workload(sizes.nseq, sizes.length, number), PAGE_SIZE))
        try:
            theirs.append(peer_figures(folder, sizes.nseq, sizes.length, number, PAGE_SIZE))
        except PeerError as error:
            missing.append(str(error))
            break
    return Part(
        "tree",
        f"{sizes.nseq:,} prompts of {sizes.length:,} tokens with shared prefixes, full attention and sliding window, "
        f"pages of {PAGE_SIZE}; medians of {len(ours)} alternating runs",
        () if len(theirs) < len(ours) else _ratios(ours, theirs),
        (*_figures("shadowviz", ours), *_peer_figures(theirs)),
        tuple(missing),
    )


def _ratios(ours: Sequence[TreeFigures], theirs: Sequence[Mapping[str, TreeFigures]]) -> tuple[Ratio, ...]:
    found = []
    for name, core, bar in _BARS:
        statistic, _ = _STATISTICS[name]
        value = median_ratio(map(statistic, ours), (statistic(by_core[core]) for by_core in theirs))
        found.append(Ratio(f"{name}, shadowviz / SGLang's {core} core", value, bar))
    return tuple(found)


def _figures(who: str, runs: Sequence[TreeFigures]) -> tuple[Figure, ...]:
    return tuple(
        Figure(f"{name}, {who}", median(map(statistic, runs)), unit) for name, (statistic, unit) in _STATISTICS.items()
    )


def _peer_figures(theirs: Sequence[Mapping[str, TreeFigures]]) -> tuple[Figure, ...]:
    cores = theirs[0] if theirs else ()
    return tuple(
        figure for core in cores for figure in _figures(f"SGLang's {core} core", [by_core[core] for by_core in theirs])
    )

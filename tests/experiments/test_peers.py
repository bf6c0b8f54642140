"""The peers' environment says what it lacks and goes on, and runs where it stands."""

import os
from pathlib import Path

import pytest

from shadowviz.experiments.peers import PeerError, build_peers, peer_figures


@pytest.fixture
def no_packages_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.mark.usefixtures("no_packages_to_be_had")
def test_every_part_that_cannot_be_had_is_named_in_one_line(tmp_path: Path) -> None:
    said: list[str] = []
    missing = build_peers(tmp_path / "peers", said.append)
    assert len(missing) == len(said) == 3
    assert all("\n" not in line and line.startswith("peers: no ") for line in missing)
    assert "sglang==0.5.23" in missing[1]
    assert "vllm==0.33.0" in missing[2]


def test_without_an_environment_the_figures_say_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match=r"shadowviz\.experiments\.peers"):
        peer_figures(tmp_path, nseq=10, length=1100, seed=0, page_size=256)


@pytest.mark.peers
def test_an_environment_that_stands_is_left_alone(peers_dir: Path) -> None:
    said: list[str] = []
    assert build_peers(peers_dir, said.append) == ()
    assert said == []


@pytest.mark.peers
def test_both_cores_of_the_peer_find_what_was_stored_and_what_is_shared(peers_dir: Path) -> None:
    by_core = peer_figures(peers_dir, nseq=20, length=1100, seed=0, page_size=256)
    assert set(by_core) == {"python", "rust"}
    for figures in by_core.values():
        assert figures.full_match_tokens == 1024
        assert figures.partial_match_tokens == 768
        assert figures.evict_half_tokens > 0

"""The arithmetic level: the definition against itself, every geometry without a finding, lengths and groups."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stress_cells import arithmetic_plan, findings, results

from shadowviz.experiments.stress.arithmetic import MODES, work_of
from shadowviz.experiments.stress.arithmetic_lengths import boundary_sizes, cuts_of, lengths_of
from shadowviz.experiments.stress.definition import Definition, listed_definition, run_definition
from shadowviz.experiments.stress.geometries import SORTS, geometry_of, random_geometry
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.families import FAMILIES
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import PRESETS, preset

LONGEST = 700
SEEDS = st.integers(0, 10_000)


def needed_by_label(definition: Definition, length: int) -> dict[str, tuple[int, int]]:
    """Rows that going on at a length needs."""
    return {account.rule.label: definition.needed(account, length)[0] for account in definition.accounts}


def test_going_on_at_1000_needs_the_rows_of_the_worked_example() -> None:
    for definition in (run_definition(preset("v4-flash"), 1000), listed_definition(preset("v4-flash"))):
        assert needed_by_label(definition, 1000) == {
            "csa_kv": (0, 250),
            "index_k": (0, 250),
            "hca_kv": (0, 7),
            "swa_kv": (873, 1000),
            "csa_tail": (996, 1000),
            "index_tail": (996, 1000),
            "hca_tail": (896, 1000),
        }
        assert definition.retained(1000, page_rule=True) == (872, 1000)
        entries = definition.accounts[0]
        assert definition.owned(entries, 9, 17) == ((2, 4), (4, 16))
        assert definition.figures(entries, 999) == (249, 250, 3)


@given(SEEDS, st.integers(0, LONGEST), st.integers(0, LONGEST))
def test_running_and_listing_give_the_same_rows(seed: int, start: int, stop: int) -> None:
    start, stop = sorted((start, stop))
    geometry = random_geometry(seed)
    run, listed = run_definition(geometry, stop), listed_definition(geometry)
    assert [run.retained(stop, rule) for rule in (False, True)] == [listed.retained(stop, r) for r in (False, True)]
    for a, b in zip(run.accounts, listed.accounts, strict=True):
        assert run.owned(a, start, stop) == listed.owned(b, start, stop)
        assert run.needed(a, stop) == listed.needed(b, stop)
        if a.rule.shape == "range":
            assert run.figures(a, stop) == listed.figures(b, stop)


@given(SEEDS, st.integers(0, 200))
def test_what_is_kept_at_a_length_is_what_later_tokens_read(seed: int, length: int) -> None:
    geometry = random_geometry(seed)
    for account in run_definition(geometry, length).accounts:
        rule = account.rule
        read = set()
        for token in range(length, length + rule.size + 1):
            if rule.shape == "open" and (token + 1) % rule.size == 0:
                read |= set(range(token - rule.size + 1 - rule.back, token + 1))
            elif rule.shape == "window" and not rule.size:
                read |= set(range(token - rule.back, token))
            elif rule.shape == "window":
                read |= set(range(token - token % rule.size, token))
        if rule.shape in ("open", "window"):
            assert set(range(account.kept(length), length)) == {token for token in read if 0 <= token < length}


@pytest.mark.parametrize("name", [*PRESETS, *FAMILIES])
def test_no_named_geometry_has_a_finding(name: str, long_form: bool) -> None:
    assert findings(arithmetic_plan(name, (0, 1001 if long_form else 45))) == []


@pytest.mark.parametrize("seed", range(20))
def test_no_random_geometry_has_a_finding(seed: int, long_form: bool) -> None:
    assert findings(arithmetic_plan(f"random:{seed}", (0, 1001 if long_form else 45))) == []


@pytest.mark.slow
def test_lengths_in_the_millions_have_no_finding() -> None:
    for name in ("v4-flash", "article", "random:1"):
        assert findings(arithmetic_plan(name, (1, 5_000_001))) == []


def test_lengths_far_beyond_what_is_run_have_no_finding() -> None:
    plan = arithmetic_plan("v4-flash", (4_194_100, 4_194_600), modes=("derive", "resume"))
    cells = results(work_of(plan))
    assert len(cells) == 1000
    assert {cell.outcome for cell in cells} == {"same"}


def test_random_geometries_are_of_every_sort_and_stay_the_same() -> None:
    geometries = [random_geometry(seed) for seed in range(len(SORTS))]
    assert len({tuple(kind.label for kind in item.kinds) for item in geometries}) >= 3
    assert any(item.warnings() for item in geometries), "one has ratios that share little"
    assert any({kind.unit for kind in item.kinds} >= {1, 2} for item in geometries)
    assert [random_geometry(seed) for seed in range(len(SORTS))] == geometries


def test_a_long_range_is_sampled_with_the_neighbours_of_every_multiple() -> None:
    geometry = preset("recall")
    plan = arithmetic_plan("recall", (1, 8001))
    lengths = set(lengths_of(plan, geometry))
    for size in boundary_sizes(geometry):
        multiples = range(size, 8000, size)
        if len(multiples) <= 512:
            assert {m + step for m in multiples for step in (-1, 0, 1)} <= lengths
    assert {1, 1024, 8000} <= lengths
    assert len(lengths) < 8000
    every = arithmetic_plan("recall", (1, 8001), options={"multiples": "all"})
    assert {n for n in range(1, 8001) if n % 4 != 2} <= set(lengths_of(every, geometry))


def test_a_length_is_checked_at_every_cut_or_near_the_boundaries_behind_it() -> None:
    geometry = preset("v4-flash")
    plan = arithmetic_plan("v4-flash", (1, 2))
    assert list(cuts_of(plan, geometry, 1000)) == list(range(1001))
    assert {0, 8191, 8192, 8193, 9999, 10_000, 9_985 - 1, 10_000 - 128} <= set(cuts_of(plan, geometry, 10_000))


@pytest.mark.parametrize("subject", ["v4-flash", "random:3", "qwen3.5"])
def test_groups_hold_every_cell_once_and_a_cell_alone_has_the_same_result(subject: str) -> None:
    plan = arithmetic_plan(subject, (1, 300))
    work = work_of(plan)
    cells = [(group.mode, length) for group in work.groups() for length in group.lengths]
    modes = MODES if geometry_of(subject).compressors else MODES[:2]
    assert cells == [(mode, length) for mode in modes for length in range(1, 300)]
    assert work_of(plan).groups() == work.groups()
    alone = results(work_of(arithmetic_plan(subject, (255, 256), modes=("derive",))))
    assert alone == [cell for cell in results(work) if (cell.mode, cell.length) == ("derive", 255)]


def test_the_geometry_of_a_model_directory_is_checked(tmp_path) -> None:
    import json

    from shadowviz_engine.model.config_json import config_to_json
    from shadowviz_engine.model.presets import model_preset

    (tmp_path / "config.json").write_text(json.dumps(config_to_json(model_preset("tiny-article"))))
    geometry = geometry_of(str(tmp_path))
    assert isinstance(geometry, Geometry)
    assert (geometry.page_size, geometry.n_win) == (256, 256)
    assert findings(arithmetic_plan(str(tmp_path), (100, 140))) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"subject": "v9"}, "no geometry is called"),
        ({"subject": "random:x"}, "names no random geometry"),
        ({"modes": ("cold",)}, "mode 'cold' is unknown"),
        ({"options": {"multiples": "many"}, "lengths": ((1, 9000),)}, "no number of multiples"),
    ],
)
def test_what_a_plan_cannot_mean_is_refused(changes: dict, words: str) -> None:
    import msgspec

    plan = msgspec.structs.replace(arithmetic_plan("recall", (1, 9)), **changes)
    with pytest.raises(InputError, match=words):
        work_of(plan).groups()


def test_the_level_needs_neither_torch_nor_transformers() -> None:
    import subprocess
    import sys

    program = (
        "import sys; sys.path[:0] = ['engine', '.'];"
        "from shadowviz.experiments.stress.arithmetic import work_of;"
        "from shadowviz.experiments.stress.work import Plan;"
        "work = work_of(Plan(level='arithmetic', subject='recall', lengths=((1, 40),)));"
        "assert all(cell.outcome == 'same' for group in work.groups() for cell in work.check(group));"
        "assert not {'torch', 'transformers', 'textual'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

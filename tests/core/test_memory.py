"""KV bytes by kind: the published figures, and a count of one row at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.core.errors import GeometryError, InputError
from shadowviz_engine.core.geometry import Compressor, Geometry, hybrid_geometry
from shadowviz_engine.core.kinds import Shape, StateKind
from shadowviz_engine.core.memory import MemoryTable, Part, fullest_length, memory_table, resume_price
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.row_formats import V4_FORMATS, V41_FORMATS, RowFormat, RowSize, folded, formats_of

MIB, GIB = 2**20, 2**30
MILLION = 2**20
BF16, FP8, FP4 = V4_FORMATS
FP4_41, FP8_41, RECORD_41 = V41_FORMATS
V4_COLUMNS = [(name, row_format) for name in ("v4-flash", "v4-pro") for row_format in V4_FORMATS]


def mib(table: MemoryTable, *kinds: str, part: Part = Part.ROWS) -> float:
    """MiB of the named kinds of one part."""
    return sum(line.total_bytes for line in table.kinds if line.kind in kinds and line.part == part) / MIB


def table_of(name: str, row_format: RowFormat, length: int = MILLION) -> MemoryTable:
    """Table of a preset at a length."""
    return memory_table(preset(name), row_format, length)


@pytest.mark.parametrize(
    ("column", "swa", "csa", "index", "hca", "overlap", "total"),
    [
        (0, "5.33", "5376.0", "1344.0", "160.00", "0.41", "6.72"),
        (1, "3.04", "3066.0", "693.0", "91.25", "0.41", "3.76"),
        (2, "3.04", "3066.0", "357.0", "91.25", "0.41", "3.44"),
        (3, "7.57", "7680.0", "1920.0", "248.00", "0.59", "9.63"),
        (4, "4.31", "4380.0", "990.0", "141.44", "0.59", "5.39"),
        (5, "4.31", "4380.0", "510.0", "141.44", "0.59", "4.92"),
    ],
    ids=[f"{name} {row_format.name}" for name, row_format in V4_COLUMNS],
)
def test_a_million_tokens_take_the_published_bytes(
    column: int, swa: str, csa: str, index: str, hca: str, overlap: str, total: str
) -> None:
    table = table_of(*V4_COLUMNS[column])
    assert f"{mib(table, 'swa_kv'):.2f}" == swa
    assert f"{mib(table, 'csa_kv'):.1f}" == csa
    assert f"{mib(table, 'index_k'):.1f}" == index
    assert f"{mib(table, 'hca_kv'):.2f}" == hca
    assert f"{mib(table, 'csa_tail', 'index_tail', part=Part.OVERLAP):.2f}" == overlap
    assert f"{table.total_bytes / GIB:.2f}" == total
    assert mib(table, "csa_tail", "index_tail", "hca_tail") == 0


@pytest.mark.parametrize(
    ("name", "row_format", "by_kind", "total"),
    [
        ("v4-flash", BF16, (5376, 1344, 160), 6880),
        ("v4-flash", FP8, (3066, 693, 91.25), 3850.25),
        ("v4-flash", FP4, (3066, 357, 91.25), 3514.25),
        ("v4-pro", BF16, (7680, 1920, 248), 9848),
        ("v4-pro", FP8, (4380, 990, 141.4375), 5511.4375),
        ("v4-pro", FP4, (4380, 510, 141.4375), 5031.4375),
    ],
)
def test_one_more_token_adds_the_published_bytes(
    name: str, row_format: RowFormat, by_kind: tuple[float, ...], total: float
) -> None:
    table = table_of(name, row_format)
    marginal = {line.kind: line.marginal_bytes for line in table.kinds if line.part is Part.ROWS}
    assert (marginal["csa_kv"], marginal["index_k"], marginal["hca_kv"]) == by_kind
    assert table.marginal_bytes == total


@pytest.mark.parametrize("row_format", V4_FORMATS, ids=lambda row_format: row_format.name)
@pytest.mark.parametrize(
    ("name", "fine", "coarse", "online"), [("v4-flash", "0.62", "9.92", "0.12"), ("v4-pro", "0.88", "15.38", "0.18")]
)
def test_tails_at_worst_take_the_published_bytes(
    name: str, row_format: RowFormat, fine: str, coarse: str, online: str
) -> None:
    length = fullest_length(preset(name), MILLION)
    assert length % 128 == 127
    raw = table_of(name, row_format, length)
    assert f"{mib(raw, 'csa_tail', 'index_tail'):.2f}" == fine
    assert f"{mib(raw, 'hca_tail'):.2f}" == coarse
    assert f"{mib(table_of(name, folded(row_format), length), 'hca_tail'):.2f}" == online


def test_a_layer_keeps_the_published_tail_bytes_at_worst() -> None:
    per_layer = {(line.kind, line.part): line.rows * line.row_bytes for line in table_of("v4-flash", BF16, 255).kinds}
    assert per_layer["csa_tail", Part.ROWS] == 24_576
    assert per_layer["index_tail", Part.ROWS] == 6_144
    assert per_layer["csa_tail", Part.OVERLAP] == 16_384
    assert per_layer["index_tail", Part.OVERLAP] == 4_096
    assert per_layer["hca_tail", Part.ROWS] == 520_192
    online = {line.kind: line for line in table_of("v4-flash", folded(BF16), 255).kinds if line.part is Part.ROWS}
    assert online["hca_tail"].rows * online["hca_tail"].row_bytes == 6_144


@pytest.mark.parametrize(("name", "tail", "window"), [("v4-flash", 296_960, 44_032), ("v4-pro", 434_176, 62_464)])
def test_resuming_at_any_token_has_the_published_price(name: str, tail: int, window: int) -> None:
    price = resume_price(preset(name), BF16)
    assert (price.tail_bytes, price.window_bytes) == (tail, window)


def test_a_window_of_tails_takes_thirty_eight_megabytes_on_flash() -> None:
    assert round(resume_price(preset("v4-flash"), BF16).tail_bytes_of_window / 1e6) == 38


def test_flash_with_the_ratios_of_the_article_would_take_a_sixth() -> None:
    compressors = (Compressor("csa", 32, indexed=True), Compressor("hca", 128))
    geometry = hybrid_geometry("flash, article", 128, 2048, compressors, preset("v4-flash").schedule, 512)
    table = memory_table(geometry, BF16, MILLION)
    assert f"{table.total_bytes / GIB:.2f}" == "1.06"
    assert f"{mib(table, 'swa_kv'):.0f}" == "86"
    geometry = hybrid_geometry("pro, article", 128, 2048, compressors, preset("v4-pro").schedule, 512)
    assert f"{memory_table(geometry, BF16, MILLION).total_bytes / GIB:.2f}" == "1.53"


def test_pro_takes_a_tenth_of_what_every_token_of_v32_takes() -> None:
    v32 = preset("deepseek-v3.2")
    rows = RowFormat("fp8", (RowSize("latent_kv", 656), RowSize("index_k", 132)))
    table = memory_table(v32, rows, MILLION)
    assert table.marginal_bytes == 48_068
    assert f"{table.total_bytes / GIB:.1f}" == "46.9"
    assert f"{100 * table_of('v4-pro', FP4).total_bytes / table.total_bytes:.1f}" == "10.5"
    assert f"{100 * table_of('v4-flash', FP4).total_bytes / table.total_bytes:.1f}" == "7.3"


@pytest.mark.parametrize(("row_format", "token"), [(FP4_41, 890), (FP8_41, 1490), (RECORD_41, 1790)])
def test_v41_adds_the_published_bytes_a_token(row_format: RowFormat, token: int) -> None:
    assert table_of("deepseek-v4.1", row_format).marginal_bytes == token


def test_a_page_and_a_window_of_v41_take_the_published_bytes() -> None:
    page = table_of("deepseek-v4.1", FP4_41, 256)
    assert sum(line.total_bytes for line in page.kinds if line.kind != "swa_kv") == 227_840
    for row_format, megabytes in ((FP4_41, "2.70"), (RECORD_41, "2.99")):
        assert f"{resume_price(preset('deepseek-v4.1'), row_format).window_bytes * 128 / 1e6:.2f}" == megabytes
    odd = {line.kind: line.total_bytes for line in table_of("deepseek-v4.1", FP4_41, 257).kinds}
    assert odd["pair_tail"] == 3 * 4096


def test_a_snapshot_of_qwen35_weighs_as_much_as_1536_tokens() -> None:
    (own,) = formats_of(preset("qwen3.5"))
    lines = {line.kind: line for line in table_of("qwen3.5", own, 1536).kinds}
    assert lines["full_kv"].marginal_bytes == 32 * 1024
    assert lines["delta_state"].total_bytes == 48 * MIB == lines["full_kv"].total_bytes


def kept_bytes(kind: StateKind, size: RowSize, token: int, length: int, n_win: int) -> int:
    """Bytes in one layer that a sequence of `length` tokens still keeps because of `token`."""
    match kind.shape:
        case Shape.RANGE:
            return size.row_bytes if (token + 1) % kind.unit == 0 else 0
        case Shape.WINDOW:
            return size.row_bytes if length - token < n_win else 0
    windows_ago = length // kind.ratio - token // kind.ratio
    return {0: size.row_bytes, 1: size.overlap_bytes if kind.overlap else 0}.get(windows_ago, 0)


def count_rows(geometry: Geometry, row_format: RowFormat, length: int) -> int:
    """Bytes by walking over every token and asking what it still has to keep."""
    return sum(
        len(kind.owners) * kept_bytes(kind, row_format.size(kind.label), token, length, geometry.n_win)
        for kind in geometry.kinds
        for token in range(length)
    )


@given(st.sampled_from(V4_COLUMNS), st.integers(0, 700))
def test_a_table_equals_the_count_of_every_row(column: tuple[str, RowFormat], length: int) -> None:
    name, row_format = column
    table = table_of(name, row_format, length)
    assert table.total_bytes == count_rows(preset(name), row_format, length)
    assert table.total_bytes == sum(line.layers * line.rows * line.row_bytes for line in table.kinds)


@given(st.sampled_from(V4_COLUMNS), st.integers(1, 40))
def test_the_marginal_bytes_are_what_a_block_adds(column: tuple[str, RowFormat], blocks: int) -> None:
    name, row_format = column
    shorter, longer = (table_of(name, row_format, 128 * n) for n in (blocks, blocks + 1))
    growing = longer.total_bytes - shorter.total_bytes
    # The first block fills the window but for its last token, so only entries grow after it.
    window = mib(longer, "swa_kv")
    assert window == mib(shorter, "swa_kv")
    assert growing == 128 * shorter.marginal_bytes


def test_the_fullest_length_lacks_one_token_of_every_window() -> None:
    assert fullest_length(preset("v4-flash"), 128) == 127
    assert fullest_length(preset("v4-flash"), 127) == 127
    assert fullest_length(preset("v4-flash"), 126) == 0
    assert fullest_length(preset("v4-flash"), 1000) == 895


def test_a_format_fits_only_the_geometries_it_sizes() -> None:
    assert formats_of(preset("v4-pro")) == V4_FORMATS
    assert formats_of(preset("deepseek-v4.1-replay")) == V41_FORMATS
    assert [row_format.name for row_format in formats_of(preset("mistral-swa"))] == ["own"]
    bare = Geometry("bare", 1, (StateKind(label="novel_kv", shape=Shape.RANGE),))
    with pytest.raises(GeometryError, match="no row format sizes every state kind of geometry bare: novel_kv"):
        formats_of(bare)
    with pytest.raises(GeometryError, match=r"row format fp4 has no size for state kind 'csa_kv'.*pair_kv"):
        table_of("v4-flash", FP4_41)


def test_a_negative_length_is_refused() -> None:
    with pytest.raises(InputError, match="length -5 must not be negative"):
        table_of("v4-flash", BF16, -5)

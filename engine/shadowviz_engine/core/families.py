"""Other model families as data: their state kinds, tested by the same predicates as DeepSeek-V4.

A name is what `derive --family` takes. Most values are defaults of configuration classes, which a released
checkpoint may change: each geometry's `note` says so. Pages are those of SGLang: 1 where a family fixes none.
"""

from shadowviz_engine.core.families_recurrent import RECURRENT_FAMILIES
from shadowviz_engine.core.families_sparse import SPARSE_FAMILIES
from shadowviz_engine.core.families_window import WINDOW_FAMILIES
from shadowviz_engine.core.geometry import Geometry

FAMILIES: dict[str, Geometry] = {
    geometry.name: geometry for geometry in (*SPARSE_FAMILIES, *RECURRENT_FAMILIES, *WINDOW_FAMILIES)
}

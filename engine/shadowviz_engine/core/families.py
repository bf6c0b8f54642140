"""Other model families as data: their state kinds, tested by the same predicates as DeepSeek-V4."""

from shadowviz_engine.core.geometry import Geometry

FAMILIES: dict[str, Geometry] = {}

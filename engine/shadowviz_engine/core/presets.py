"""Named geometries: the released DeepSeek-V4 models, the article's figures, and the embedded engine's models."""

from shadowviz_engine.core.errors import GeometryError
from shadowviz_engine.core.families import FAMILIES
from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, Geometry, LayerSchedule, hybrid_geometry

CSA = Compressor("csa", 4, overlap=True, indexed=True)
HCA = Compressor("hca", 128)

_FLASH = LayerSchedule((SWA_ONLY, SWA_ONLY) + ("csa", "hca") * 20 + ("csa",))
_PRO = LayerSchedule(("hca", "hca") + ("csa", "hca") * 29 + ("csa",))
_SMALL = LayerSchedule((SWA_ONLY, SWA_ONLY, "csa", "hca", "csa", "hca"))
_ARTICLE = (Compressor("csa", 32, indexed=True), Compressor("hca", 128))


def _presets() -> dict[str, Geometry]:
    geometries = (
        hybrid_geometry("v4-flash", 256, 128, (CSA, HCA), _FLASH, 512),
        hybrid_geometry("v4-pro", 256, 128, (CSA, HCA), _PRO, 1024),
        hybrid_geometry("article", 128, 2048, _ARTICLE, _SMALL, 512),
        hybrid_geometry("tiny", 256, 128, (CSA, HCA), _SMALL, 16),
        hybrid_geometry("tiny-512", 256, 128, (CSA, HCA), _SMALL, 16),
        hybrid_geometry("tiny-article", 128, 256, _ARTICLE, _SMALL, 16),
        hybrid_geometry("recall", 16, 8, (CSA, Compressor("hca", 16)), LayerSchedule((SWA_ONLY, "csa", "hca")), 2),
        hybrid_geometry("recall-hca", 8, 8, (Compressor("hca", 8),), LayerSchedule((SWA_ONLY, "hca")), 0),
    )
    return {geometry.name: geometry for geometry in geometries}


PRESETS = _presets()


def preset(name: str) -> Geometry:
    """The geometry called `name`, of a model or of another family.

    Raises:
        GeometryError: there is none.
    """
    geometry = PRESETS.get(name) or FAMILIES.get(name)
    if geometry is None:
        raise GeometryError(f"no geometry is called {name!r}: expected one of {', '.join((*PRESETS, *FAMILIES))}")
    return geometry

"""What ends a reading in bulk."""

from shadowviz_engine.core.errors import ShadowvizError


class Unsound(ShadowvizError):  # noqa: N818 - told to nobody
    """Events do not fit together, or cannot be read in bulk: read one by one, they tell what is wrong, if anything."""

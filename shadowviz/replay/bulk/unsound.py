"""What ends a reading in bulk."""


class Unsound(Exception):  # noqa: N818 - no error that anybody is told of
    """Events do not fit together, or cannot be read in bulk: read one by one, they tell what is wrong, if anything."""

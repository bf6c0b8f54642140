"""Why two prompts part: classes decided by what differs in text, in ids and in the JSON around it."""

from shadowviz.tokens.causes.find import find_causes

__all__ = ["find_causes"]

"""Formats: each module turns a diagram into one kind of file and decides nothing that the diagram has not."""

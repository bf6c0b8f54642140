"""The log form of one lookup in eight lines: what its lines claim, and whether the arithmetic agrees."""

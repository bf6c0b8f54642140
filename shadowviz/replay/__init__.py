"""Reads recorded state: verdicts in words, chains of facts."""

"""Boundary stress: proves that going on at every prefix length is right, and that a fault would be found."""

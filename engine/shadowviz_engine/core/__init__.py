"""Pure values and functions: geometry, derivation, reuse, events, log and replay."""

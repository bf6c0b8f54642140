"""Measurements on the embedded engine: benchmarks."""

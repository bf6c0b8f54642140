"""Debugger and visualiser for prefix caches of hybrid-attention models."""

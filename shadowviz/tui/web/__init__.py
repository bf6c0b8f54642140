"""The same interface in a browser on this machine: one process a tab, and nothing from elsewhere."""

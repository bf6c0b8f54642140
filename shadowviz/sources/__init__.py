"""All that yields events: recorded logs and the embedded engine."""

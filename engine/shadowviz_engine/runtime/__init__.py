"""The loop that schedules requests, runs the model and emits events."""

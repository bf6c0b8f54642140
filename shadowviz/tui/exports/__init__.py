"""What each screen can write to a file: diagrams, a comparison, and events."""

"""What a comparison says, as values for the terminal and for programs."""

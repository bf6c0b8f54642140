"""Two prompts laid side by side, line by line."""

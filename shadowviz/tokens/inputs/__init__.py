"""Where the prompts of a comparison come from."""

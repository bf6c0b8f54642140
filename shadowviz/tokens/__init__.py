"""From messages and text to token ids: rendering, encoding, prompt input."""

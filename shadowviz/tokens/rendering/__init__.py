"""Messages as the one string that a DeepSeek-V4 server encodes."""

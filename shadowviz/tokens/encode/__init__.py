"""What turns text into ids: tokenizers of every usual kind, loaded by content, and their fingerprints."""

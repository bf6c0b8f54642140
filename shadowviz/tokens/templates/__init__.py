"""Chat templates of tokenizers, rendered in a sandbox, and what each stretch of the text is."""

"""What differs between two sequences of ids, token by token."""

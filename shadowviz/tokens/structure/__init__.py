"""What changed between two conversations, seen in their messages, tools and options."""

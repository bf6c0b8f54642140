"""A large log read for its tree alone: many events at once, as columns, with what can be summed up read beside."""

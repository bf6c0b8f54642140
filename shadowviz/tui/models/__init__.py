"""What the screens count and order, without a terminal: plain values in, plain values out."""

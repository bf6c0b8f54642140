"""Bookkeeping of the prefix cache: radix tree, pools, retention and eviction; no tensor."""

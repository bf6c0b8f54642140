"""The terminal interface: live requests, the tree, and every event of a run, with time travel."""

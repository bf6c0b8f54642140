"""Engine under a ShadowRadix prefix cache: pure core, cache, model and runtime."""

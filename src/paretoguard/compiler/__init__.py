"""How plain Python bodies become kernels: decorators, tiers (interpreted, compiled), the disk cache, fingerprints."""

"""How plain Python bodies become kernels: decorators, tiers (interpreted or compiled), machine code on disk, fingerprints."""

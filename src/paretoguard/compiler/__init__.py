"""How plain Python bodies become kernels: decorators, the cache of machine code on disk, fingerprints."""

"""One ask/tell machine over the engine, stepped live or replayed; the registry of names; what answers promise."""

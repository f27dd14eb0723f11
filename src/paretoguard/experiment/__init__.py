"""Live experiments: ask what to measure next, tell the result; on a ledger that survives crashes and can be audited."""

"""Problem files (TOML), the formulas and the built-in metrics they may name."""

"""Two-stage: first the feasible arms, then the Pareto set among them (APE)."""

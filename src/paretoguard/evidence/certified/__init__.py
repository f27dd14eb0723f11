"""`certified` evidence: e-values for arms, pairs and sets of arms, valid at every sample size."""

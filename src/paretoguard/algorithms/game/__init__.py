"""Game-cPSI: a learner of sampling weights plays against the nearest other answer."""

"""e-cAPE, and the stopping rule that other algorithms share with it."""

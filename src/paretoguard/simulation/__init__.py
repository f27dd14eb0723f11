"""Simulation: named instances, and studies of many runs. (Not called `simulate`: that is the function `pg.simulate`.)"""

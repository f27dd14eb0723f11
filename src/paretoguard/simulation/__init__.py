"""Simulation: named instances, and studies of many runs. (`simulate` is the function.)"""

"""Races: arms that are commands, Python functions or recorded data, measured until the answer is certain."""

"""Polyhedra in engine units: slack, distance, projection, the cheapest way in, the nearest other answer."""

"""Pitfall: pull what makes the cheapest wrong answer dearer."""

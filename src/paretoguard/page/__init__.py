"""A report to hand over, as one page of HTML or as Markdown."""

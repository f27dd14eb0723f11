"""The compiled engine: plain numbers in, decisions out. It knows no names, files or clocks."""

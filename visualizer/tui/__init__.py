"""The terminal front end: the only package that imports Textual."""

"""Draws the pictures of the documents: the program itself, over bundled recordings and a made machine."""

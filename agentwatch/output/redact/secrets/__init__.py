"""Finds secrets in a text, by the formats that their vendors document and by the labels before them."""

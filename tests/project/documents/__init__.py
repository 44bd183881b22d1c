"""Tests of the documents: what pages claim, the commands that they name, the site, and what is generated."""

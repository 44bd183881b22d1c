"""Recordings of every agent, and what is exported of them."""

"""Real programs, processes and terminals for the tests."""

"""What makes lines, sessions and screens for the tests."""

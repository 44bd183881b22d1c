"""The checks of a format that other packages use in their tests."""

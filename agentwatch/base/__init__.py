"""Settings, faults, folders, credentials and other foundations that every room may use."""

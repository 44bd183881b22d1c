"""Sessions of a host that `ssh` reaches: their list, and the bytes of one. Data from the host is foreign."""

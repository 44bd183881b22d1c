"""What tests of an earlier moment are built from."""

"""Tests of `engine`: an administrator sets up a server, and looks after it."""

"""Tests of the list of sessions: its columns, its selection, its bars, and what it draws."""

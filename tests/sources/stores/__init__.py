"""Tests of the stores in which agents keep sessions."""

"""Tests of one call, of the store of calls, and of their ids."""

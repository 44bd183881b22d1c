"""Tests of engines: addresses, logins, names, chunks and cards."""

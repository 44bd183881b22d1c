"""Tests of the storage of texts, bytes and ids."""

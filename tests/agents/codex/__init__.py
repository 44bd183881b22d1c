"""Tests of the decoder of `codex exec --json`."""

"""Tests of the transcripts of Cursor."""

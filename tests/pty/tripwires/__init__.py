"""Tests of rules that pause and stop a real agent."""

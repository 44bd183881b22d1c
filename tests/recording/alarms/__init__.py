"""Tests of the alarms beside a recording."""

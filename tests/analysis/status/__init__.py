"""Tests of the status line and of the reasons of an ending."""

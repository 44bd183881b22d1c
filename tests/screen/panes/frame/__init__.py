"""Tests of what surrounds the panes: header, status line, to-do list, tabs, footer."""

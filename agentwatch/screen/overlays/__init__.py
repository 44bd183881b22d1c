"""Dialogs and full-screen lists that open over the panes."""

"""Dialogs and full-screen lists that open over the panes.

Within the screen, this folder may import `detail`, `lines`, `terminal` and the modules beside the folders.
"""

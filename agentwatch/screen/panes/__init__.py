"""What surrounds the panes: header, status line, to-do list, tabs, footer and the list of commands.

Within the screen, this folder may import `lines`, `overlays`, `panes` and `keymap`.
"""

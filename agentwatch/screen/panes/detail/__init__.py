"""The detail pane: the arguments and the result of the selected call.

Within the screen, this folder may import `lines` and `markup`.
"""

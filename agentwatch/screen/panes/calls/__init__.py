"""The calls pane and the action log pane.

Within the screen, this folder may import only `lines`.
"""

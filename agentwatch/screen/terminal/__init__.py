"""The layer between the screen and the terminal: app base, driver, compositor, frame scheduling, attention.

Within the screen, this folder may import only `lines`. Private names of Textual are used only here.
"""

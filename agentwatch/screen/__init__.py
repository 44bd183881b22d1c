"""The Textual app: its layers terminal, widgets, panes and screens import only those before them."""

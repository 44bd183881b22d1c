"""Headless tests of the screen: single panes, and the whole app driven by Textual's pilot."""

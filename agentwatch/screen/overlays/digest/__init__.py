"""The digest: what happened since a moment, on a screen over the panes."""

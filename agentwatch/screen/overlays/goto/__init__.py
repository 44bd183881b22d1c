"""The goto box, and the marked moments that it lists: bookmarks, failures, edits, verdicts and turns."""

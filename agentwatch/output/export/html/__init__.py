"""The export `html`: a session as one page for a browser, with its styles and scripts inside."""

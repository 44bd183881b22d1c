<<<<<<< HEAD
"""Tests of the list of sessions on a real terminal."""
=======
"""The list of all sessions on a real terminal."""
>>>>>>> app

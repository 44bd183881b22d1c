"""What happened between two moments of a session: counts, words, a digest, and how fast to play it.

The earlier moment is a `Mark`, made from the session as it was then. The later one is the present of the
session that is compared with it. The modules are imported one by one: `digest` loads the patterns of all
test runners, which the first screen does not need.
"""

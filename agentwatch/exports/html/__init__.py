"""The session as one HTML file that loads nothing.

The file has the session as the screen shows it, for a browser: a list of calls, the transcript, and each call
in full. It contains everything that it shows. A Content-Security-Policy allows its own script and stylesheet,
by their hashes, and nothing else.
"""

from agentwatch.exports.exporter import Exporter
from agentwatch.exports.html.page import write

EXPORTER = Exporter(name="html", suffix=".html", write=write)

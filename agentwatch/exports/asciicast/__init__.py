"""asciicast: a session as a recording of a terminal, in version 3 of the format of asciinema.

The format: https://docs.asciinema.org/manual/asciicast/v3
"""

from agentwatch.exports.asciicast.text import write
from agentwatch.exports.exporter import Exporter

EXPORTER = Exporter(name="asciicast", suffix=".cast", write=write)

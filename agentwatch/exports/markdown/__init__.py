"""The export `markdown`: a session for a comment in a review, an issue or a summary of CI.

The text of the agent stays Markdown, apart from what could act on the page or on people: raw HTML, images,
links that are not http or https, mentions (`@name`) and references to issues (`#12`).
"""

from agentwatch.exports.exporter import Exporter
from agentwatch.exports.markdown.document import written

EXPORTER = Exporter(name="markdown", suffix=".md", write=written)

__all__ = ["EXPORTER"]

"""Makes the examples of docstrings known to griffe, which reads them under the plural `Examples:` only."""

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Names the section of examples as griffe does."""

    def on_object(self, *, obj: griffe.Object, **_given: Any) -> None:
        """Rename the heading in the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)

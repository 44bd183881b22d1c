"""The captures in the repository are listed with their sources, and hold no vendor's prompts."""

import re

from tests.builders.captures import OURS, OWN
from tests.builders.made_up import made_up
from tests.conftest import case


def test_every_capture_is_listed() -> None:
    """Each capture is below a path of the table, and each path of the table has a capture."""
    listed = re.findall(r"^\| `([^`]+)`", (OWN / "README.md").read_text(), re.MULTILINE)
    found = {path for row in listed for path in OURS.find(f"{row}/**/*" if "own-*" not in row else row, row)}
    assert found == {path for path in OWN.rglob("*") if path.is_file()} - {OWN / "README.md"}


def test_the_prompts_of_vendors_are_made_up() -> None:
    """Replacing a vendor's texts changes nothing in a capture: they have been replaced."""
    for path in OURS.find("**/*.jsonl", "**/*.ndjson", "**/*.json"):
        text = path.read_bytes().decode(errors="surrogateescape")
        for line in [text] if path.suffix == ".json" else text.split("\n"):
            if line:
                with case(OURS.name(path)):
                    assert made_up(line) == line


def test_a_prompt_of_a_vendor_is_replaced_by_words_of_its_length() -> None:
    """Letters of prompts and tool descriptions change; names, values and the user's words do not."""
    line = (
        '{"type":"attachment","attachment":{"systemPrompt":["You are an <b>Agent</b>.\\nDo it."],'
        '"tools":[{"name":"Read","description":"Reads a file"}]},"content":"Read it for me"}'
    )
    assert made_up(line) == (
        '{"type":"attachment","attachment":{"systemPrompt":["Vib tov an <b>Satov</b>.\\nDo it."],'
        '"tools":[{"name":"Read","description":"Satov a mine"}]},"content":"Read it for me"}'
    )

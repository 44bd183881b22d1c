"""The result of a check as text, as one JSON object, as JUnit XML, and as annotations of GitHub."""

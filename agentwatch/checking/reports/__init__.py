"""What a check found: as text, as one JSON object, as JUnit XML, and as annotations of GitHub."""

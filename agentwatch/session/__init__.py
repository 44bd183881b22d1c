"""The state of a session so far: runs, calls, transcript and counts. `apply_line` updates it.

It knows neither an agent nor the screen.

Example:
    >>> from agentwatch.session.events import Channel, RunStarted, Text
    >>> session = Session()
    >>> apply_line(session, [RunStarted("cursor"), Text(Channel.ANSWER, "Done.")], Place(0, 80, None))
    >>> session.text, session.phase
    ('Done.', <Phase.WRITING: 'writing'>)
"""

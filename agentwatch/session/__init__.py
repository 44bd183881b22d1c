"""The state of a session so far: runs, calls, transcript and counts. `apply_line` updates it.

It knows neither an agent nor a screen.

Example:
    >>> from agentwatch.session.call import Place
    >>> from agentwatch.session.events import Channel, RunStarted, Text
    >>> from agentwatch.session.reducers import apply_line
    >>> from agentwatch.session.session import Session
    >>> session = Session()
    >>> apply_line(session, [RunStarted("cursor"), Text(Channel.ANSWER, "Done.")], Place(0, 80, None))
    >>> session.text, session.phase
    ('Done.', <Phase.WRITING: 'writing'>)
"""

"""The screen: a Textual app of four panes, a header and a status line.

Panes read the session and draw what the viewport shows; foreign text reaches them as `SafeText`.
"""

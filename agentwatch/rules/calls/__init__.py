"""The fields of calls in rules. Tools are matched by their kind, never by the words of one agent."""

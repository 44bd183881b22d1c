"""The sessions of other machines in a list: the cards of an engine as rows, and several sources as one."""

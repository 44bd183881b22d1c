"""The layer between the screen and the terminal: the only place that uses private names of Textual."""

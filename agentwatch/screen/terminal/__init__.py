"""The terminal: driver, compositor, frames and signals. All private names of Textual are used here only."""

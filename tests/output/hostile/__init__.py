"""Text that agents write acts on no terminal, in whichever format it is printed."""

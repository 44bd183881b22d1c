"""Events change a digest."""

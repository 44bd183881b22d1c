"""Sessions that are published to real servers while these are broken or loaded, and what remains of them."""

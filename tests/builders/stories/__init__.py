"""Stories: sessions whose truth is known before they are written as an agent writes them."""

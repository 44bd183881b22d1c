"""Stories: sessions whose facts are known before they are written as an agent's lines."""

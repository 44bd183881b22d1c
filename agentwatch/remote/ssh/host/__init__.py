"""What runs on the host, at the other end of the connection. It ends when its standard input does."""

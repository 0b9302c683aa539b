"""Calls, characters and seconds that everyday tasks take: by our command line, by MCP, and by a plain shell."""

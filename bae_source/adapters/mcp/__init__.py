"""The MCP server: tools, resources and prompts over standard input and output, or over HTTP on this machine alone."""

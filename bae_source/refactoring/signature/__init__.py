"""The change of a function's signature: its definitions, its calls, and the mentions of its parameters."""

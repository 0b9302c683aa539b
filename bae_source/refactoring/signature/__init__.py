"""The change of a function's signature: its definitions, its calls, and what speaks of its parameters."""

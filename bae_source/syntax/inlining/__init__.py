"""Code put in the place of a name or a call: when it runs then, what it may mean there, and its text."""

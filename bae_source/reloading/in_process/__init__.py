"""Changed modules loaded again inside this process, and what that leaves behind."""

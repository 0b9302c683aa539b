"""Change requests, one a file: each declares its parameters and plans a change; none of them writes."""

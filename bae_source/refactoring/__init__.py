"""Change requests, one a verb: each declares its parameters and plans a change; none of them writes."""

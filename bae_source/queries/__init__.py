"""Reading requests, one a file: each declares its parameters and answers from a workspace."""

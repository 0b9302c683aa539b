"""Keep count of requests on this machine, and say what they came to."""

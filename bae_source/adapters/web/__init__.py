"""The review page: a person sees everything that waits, on this machine's loopback address, and decides."""

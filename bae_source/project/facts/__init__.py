"""Facts of each file, kept by its digest; the pool of processes that finds them out."""

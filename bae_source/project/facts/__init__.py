"""What is known of each file, kept by its digest; the pool of processes that finds it out."""

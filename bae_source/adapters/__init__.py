"""Ways in and out: each translates a call into a request, goes through the one door, and translates the outcome."""

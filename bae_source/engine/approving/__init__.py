"""Approval at the door: which policies govern a request, and what they keep from its caller."""

"""Code patterns with holes, and where code matches them."""

"""Classes above and below a class, and what makes them."""

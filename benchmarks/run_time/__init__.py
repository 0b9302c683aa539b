"""Users of a package as they are when its own tests run, compared with the answers about them."""

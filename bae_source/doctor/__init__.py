"""Doctor: what a project and its tools look like from here, what is wrong, and how to mend it."""

"""The process that runs the code of a session: started, watched, spoken with, and ended."""

"""Git's index and repository, looked at without git's settings."""

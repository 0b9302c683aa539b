"""Operations recorded in git repositories of our own, and what waits for that."""

"""What was done to a project: recorded, taken back, made again."""

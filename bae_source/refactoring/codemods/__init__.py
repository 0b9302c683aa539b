"""LibCST's codemods as changes: run below this process on what is planned, and planned from what they give back."""

"""The logs of a project: which there are, and their lines, of files of any size."""

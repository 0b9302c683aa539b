"""The port to the disk: the walk, layout, what is ignored, settings, and files as they are planned."""

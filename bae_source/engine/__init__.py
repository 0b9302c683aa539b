"""The one door: requests answered, changes planned, made and kept; several as one; requests noted."""

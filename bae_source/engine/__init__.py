"""The one door: requests answered, changes planned, made and kept; several as one; what was asked, noted."""

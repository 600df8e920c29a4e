"""What mechanisms leave behind: stand-ins for the data that answer at no further charge."""

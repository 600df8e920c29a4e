"""The door for devices: schemas out, randomised reports in, and nothing kept that links."""

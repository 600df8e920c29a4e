"""From a planned query and its noisy values to the columns of a release."""

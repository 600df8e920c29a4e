"""What differs between engines; everything else is said once, in ``discreet.relational``."""

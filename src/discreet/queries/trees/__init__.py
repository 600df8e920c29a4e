"""Trees of boxes over ordered attributes: complete ones, grown ones, and partitions."""

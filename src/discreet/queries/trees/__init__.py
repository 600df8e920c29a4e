"""Trees of boxes over ordered attributes: complete ones, grown ones, and partitions.

The mechanisms, and the counts of boxes that they leave behind.
"""

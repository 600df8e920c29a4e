"""What databases tell of themselves, answered from public declarations and from nothing else."""

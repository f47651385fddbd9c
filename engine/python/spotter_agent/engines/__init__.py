"""What is known of each engine: how it tells of its progress, and how its checkpoints lie on the disk."""

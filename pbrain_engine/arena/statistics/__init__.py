"""What results say: Elo with error bars, sequential tests, ladders, standings."""

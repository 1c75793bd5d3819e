"""From parallel text to trained weights: schedule, loop, checkpoints, several devices."""

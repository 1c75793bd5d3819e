"""From a trained network to translations: greedy and beam search with a cache."""

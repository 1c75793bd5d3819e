"""How a network learns to do with fewer heads: what is trained along with it to choose them.

`hard_concrete` gates with an expected count that is paid for; `subset` gates of which exactly
so many are open; `group_lasso` a price on the norm of every head's weights; `controller` the
way a price reaches a wanted count; `selector` what the three have in common; `plan` a choice
written down. Every one of them joins the training loop as its companion, and ends in an order
of heads, after which the heads that go are cut out of the weights (`surgery`).
"""

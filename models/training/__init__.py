"""How a network learns: one file for each thing that a trainer must decide.

`settings` what can be chosen; `schedule` the learning rate; `objective` the loss of a batch
and its precision; `order` which sentences form which update; `averaging` the mean of several
checkpoints; `state` a training run on disk, whole or not there; `processes` several devices;
`loop` the way all of it goes round.
"""

"""What is trained, decoded and cut. Nothing here knows who looks inside.

Axes. Every tensor of the project is described by these words, in this order of nesting:

| axis | what it counts |
| --- | --- |
| `row` | gate rows: one for all sentences, or one a sentence |
| `batch` | sentences of a batch |
| `hypothesis` | live beam hypotheses, all sentences together |
| `source`, `target` | token positions of the source and of the target, padding included |
| `token` | positions of whichever side is meant |
| `query`, `key` | positions that attend, positions attended to |
| `layer` | layers, 0-based |
| `head` | heads: of one attention, or of the whole model in `HeadLayout` order |
| `head_width` | features of one head |
| `width` | features of the residual stream |
| `unit` | features inside a feed-forward network |
| `block` | neighbouring units that share a gate, of the whole model |
| `vocabulary` | entries of a vocabulary |

A line that makes a tensor ends in a comment with its axes, such as `# [batch, head, query, key]`.
"""

"""A trained or cut model for others: as ONNX graphs, and back again.

| file | what is told there |
| --- | --- |
| `graphs.py` | the encoder, and one decoder step with its caches, as functions of tensors |
| `onnx_files.py` | writing the graphs and what belongs to them |
| `onnx_translator.py` | reading them back and translating with onnxruntime |
| `proof.py` | comparing what was read back with the model that was written |
"""

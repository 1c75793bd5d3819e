"""What holds for all tests."""

import os

# Tensors of tests are tiny: threads would only wait for each other. Set before torch is loaded,
# so that processes that tests start have it too.
os.environ.setdefault("OMP_NUM_THREADS", "1")

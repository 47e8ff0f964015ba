# SPDX-License-Identifier: Apache-2.0
"""Stands in for PyTorch: GuideLLM asks it for the loader of its data and for a generator, no more. Its records are not touched by it."""
from . import utils

__version__ = "0.0.0"


class Tensor:
    """Nothing here is one."""


class Generator:
    def manual_seed(self, seed):
        self.seed = seed
        return self

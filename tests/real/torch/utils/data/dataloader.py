# SPDX-License-Identifier: Apache-2.0
"""Rows one by one, in order, in this process."""
from typing import Generic, TypeVar

Row = TypeVar("Row")


class DataLoader(Generic[Row]):
    def __init__(self, dataset, batch_size=1, collate_fn=None, **unused):
        self.dataset = dataset
        self.collate_fn = collate_fn or (lambda rows: rows)

    def __iter__(self):
        return (self.collate_fn([row]) for row in self.dataset)

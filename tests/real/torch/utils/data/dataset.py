# SPDX-License-Identifier: Apache-2.0
from typing import Generic, TypeVar

Row = TypeVar("Row")


class Dataset(Generic[Row]):
    pass


class IterableDataset(Dataset[Row]):
    pass

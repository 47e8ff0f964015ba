# SPDX-License-Identifier: Apache-2.0
from .dataloader import DataLoader
from .dataset import Dataset, IterableDataset


def get_worker_info():
    return None

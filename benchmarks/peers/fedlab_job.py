"""The standard job in FedLab (StandalonePipeline, SGDSerialClientTrainer)."""

from job import answer, load  # isort: skip

import logging

import torch
from fedlab.contrib.algorithm.basic_client import SGDSerialClientTrainer
from fedlab.contrib.algorithm.basic_server import SyncServerHandler
from fedlab.core.standalone import StandalonePipeline
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
logging.disable(logging.CRITICAL)
job = load()
N, M, D = job.signed.shape


class Clients:
    """The loaders FedLab asks for; the labels are in the signs of the rows."""

    def __init__(self):
        self.sets = [TensorDataset(rows, torch.ones(M)) for rows in torch.from_numpy(job.signed)]

    def get_dataloader(self, client, batch_size):
        return DataLoader(self.sets[client], batch_size=batch_size)


class Pipeline(StandalonePipeline):
    def evaluate(self):
        pass


def prepare():
    model = torch.nn.Linear(D, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    trainer = SGDSerialClientTrainer(model, N)
    trainer.setup_dataset(Clients())
    trainer.setup_optim(job.steps, M, job.lr)
    for group in trainer.optimizer.param_groups:
        group["weight_decay"] = job.l2
    trainer.criterion = lambda output, target: torch.nn.functional.softplus(-output[:, 0] * target).mean()
    handler = SyncServerHandler(model, job.rounds, 1.0)

    def work():
        Pipeline(handler, trainer).main()
        return float(handler.model_parameters.norm())

    return work


answer(prepare)

"""Instances of federated problems: data, losses, gradients, proximal steps, certified constants."""

# SPDX-License-Identifier: Apache-2.0
"""Write the networks of this folder as PyTorch exports them, and what PyTorch says of five images.

    pip install torch==2.9.1 onnx==1.19.1 onnxscript==0.7.2 && python tests/pytorch/export.py

PyTorch is no dependency of the tests, which read the files: from the package registry it comes with libraries for GPUs,
several gigabytes of them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn

HERE = Path(__file__).parent


class View(nn.Module):
    """Strides, and a view of as many rows as the batch has."""

    def __init__(self) -> None:
        """Draw the weights."""
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2)
        )
        self.scores = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return three scores of each image."""
        x = self.features(x)
        return self.scores(x.view(x.size(0), -1))


def sequence() -> nn.Module:
    """Return a sequence of layers."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 3)
    )


def export(name: str, network: nn.Module, images: torch.Tensor, *, dynamo: bool) -> None:
    """Write a file by PyTorch's exporter of today, or by that by scripts, without the paths that it notes."""
    path = HERE / f"{name}-{'dynamo' if dynamo else 'script'}.onnx"
    names = {"input_names": ["image"], "output_names": ["scores"]}
    if dynamo:
        batch = ({0: torch.export.Dim("batch")},)
        torch.onnx.export(
            network, (images,), path, dynamic_shapes=batch, opset_version=18, dynamo=True, external_data=False, **names
        )
    else:
        axes = {"image": {0: "batch"}, "scores": {0: "batch"}}
        torch.onnx.export(network, (images[:1],), path, dynamic_axes=axes, opset_version=17, dynamo=False, **names)
    model = onnx.load(path)
    for noted in (model, model.graph, *model.graph.node, *model.graph.initializer, *model.graph.value_info):
        noted.ClearField("metadata_props")
        noted.ClearField("doc_string")
    onnx.save(model, path)


def main() -> None:
    """Train the means of the batches a little, then write everything."""
    torch.manual_seed(7)
    images = torch.randn(5, 1, 8, 8)
    for name, network in (("view", View()), ("sequence", sequence())):
        network.train()
        for _ in range(5):
            network(torch.randn(16, 1, 8, 8))
        network.eval()
        for dynamo in (False, True):
            export(name, network, images, dynamo=dynamo)
        np.savez(HERE / f"{name}.npz", images=images.numpy(), scores=network(images).detach().numpy())


if __name__ == "__main__":
    main()

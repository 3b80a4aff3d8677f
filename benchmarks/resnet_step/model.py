# ===- model.py - Size and arithmetic of the benchmark's ResNet -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The ResNet-18 of the benchmark: its layers, its floating-point work, its traffic.

For small pictures (He et al., "Deep Residual Learning for Image Recognition", 2016,
4.2): a stem of 3 x 3 without a pool, four stages of two blocks of two convolutions,
the first of each later stage with stride 2; batch norm over the step's batch; the mean
over all places; a linear layer. One step is forward, backward and SGD with momentum
over one batch, in f32. Counted work:
    2 flops for each multiply-add of a convolution or of the last layer, times 3 for
    forward plus the two products of the backward, without the gradient of the
    pictures. Element-wise work, norms among it, is not counted.
Counted traffic is what no implementation can avoid outside caches: momentum reads
parameter, gradient and velocity and writes parameter and velocity.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Convolution:
    size: int  # of the input's rows and columns
    inputs: int
    outputs: int
    kernel: int = 3
    stride: int = 1

    @property
    def places(self):
        return (self.size // self.stride) ** 2

    @property
    def weights(self):
        return self.kernel**2 * self.inputs * self.outputs


@dataclasses.dataclass(frozen=True)
class Size:
    batch: int = 64
    pixels: int = 32
    width: int = 64
    classes: int = 10
    blocks: int = 2  # of each of the four stages

    @property
    def stages(self):
        """For each stage, for each block: its convolutions, the shortcut's last."""
        size, inputs, stages = self.pixels, self.width, []
        for stage in range(4):
            outputs, blocks = self.width << stage, []
            for block in range(self.blocks):
                stride = 2 if stage and not block else 1
                convolutions = [Convolution(size, inputs, outputs, 3, stride)]
                convolutions.append(Convolution(size // stride, outputs, outputs))
                if stride > 1:
                    convolutions.append(Convolution(size, inputs, outputs, 1, stride))
                blocks.append(convolutions)
                size, inputs = size // stride, outputs
            stages.append(blocks)
        return stages

    @property
    def stem(self):
        return Convolution(self.pixels, 3, self.width)

    @property
    def convolutions(self):
        return [self.stem] + [c for stage in self.stages for block in stage for c in block]

    @property
    def features(self):
        return self.width << 3

    @property
    def parameters(self):
        norms = sum(2 * c.outputs for c in self.convolutions)
        return sum(c.weights for c in self.convolutions) + norms + (self.features + 1) * self.classes

    @property
    def flops(self):
        """Of a step."""
        work = lambda c: 2 * self.batch * c.places * c.weights
        last = 2 * self.batch * self.features * self.classes
        return 3 * (sum(map(work, self.convolutions)) + last) - work(self.stem)

    @property
    def optimizer_bytes(self):
        return 5 * 4 * self.parameters

    @property
    def products(self):
        """n, k, m of convolutions as matrices: places by kernel elements times inputs by outputs."""
        plain = {c for c in self.convolutions if c.kernel == 3 and c.stride == 1 and c.inputs > 3}
        return sorted((self.batch * c.places, 9 * c.inputs, c.outputs) for c in plain)

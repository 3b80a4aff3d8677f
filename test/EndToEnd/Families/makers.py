# ===- makers.py - The families by name ------------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Name of a family -> what makes it."""

import attention
import convolution
import dense
import generative
import loops
import recurrent

MAKERS = {
    "mlp": dense.make_mlp,
    "mixer": dense.make_mixer,
    "batch_norm": dense.make_batch_norm,
    "bf16": dense.make_bf16,
    "llama": attention.make_llama,
    "vit": attention.make_vit,
    "encoder_decoder": attention.make_encoder_decoder,
    "clip": attention.make_clip,
    "retnet": attention.make_retnet,
    "scan": loops.make_scan,
    "loops": loops.make_loops,
    "gru": recurrent.make_gru,
    "lstm": recurrent.make_lstm,
    "moe": recurrent.make_moe,
    "cnn": convolution.make_cnn,
    "resnet": convolution.make_resnet,
    "unet": convolution.make_unet,
    "mamba": generative.make_mamba,
    "routed": generative.make_routed,
    "diffusion": generative.make_diffusion,
}

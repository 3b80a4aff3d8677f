# ===- models.py - Small models as people write them in PyTorch -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The models that export.py writes as ONNX: tiny ones of each common kind.

A `Case` says how a model is made, what a batch is, and where its loss comes
from: from the model itself, whose first result it is, or from llmc, which adds
one of its losses to a result ("next-token", "classification", "mse").
"""

import dataclasses
import math
from typing import Callable, Optional

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS, CLASSES = 61, 12, 16, 4, 2, 10


@dataclasses.dataclass(frozen=True)
class Case:
    make: Callable
    # Name -> a function of (generator, samples) that draws an array.
    inputs: dict
    # The results of the model, by name. The first is the loss where `loss` is "".
    outputs: tuple
    loss: str = ""
    # Of torch.onnx.export, beside the defaults.
    options: dict = dataclasses.field(default_factory=dict)
    # Input -> names of its dimensions that are not fixed.
    dynamic: Optional[dict] = None
    # Dropout, whose draws are the compiler's own: nothing of it is PyTorch's.
    random: bool = False
    batch: int = 4


def tokens(generator, samples, length=LENGTH):
    return torch.randint(0, VOCABULARY, (samples, length), generator=generator)


def labels(generator, samples):
    return torch.randint(0, CLASSES, (samples,), generator=generator)


def pixels(size):
    return lambda generator, samples: torch.randn(samples, 3, size, size, generator=generator)


def cross_entropy(logits, targets):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


class FusedAttention(nn.Module):
    """One matrix for queries, keys and values; the products written out."""

    def __init__(self, dropout):
        super().__init__()
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(LENGTH, LENGTH)).view(1, 1, LENGTH, LENGTH))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, HEADS, c // HEADS).transpose(1, 2) for y in self.qkv(x).split(c, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(c // HEADS))
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = self.drop(F.softmax(scores, dim=-1)) @ v
        return self.proj(y.transpose(1, 2).contiguous().view(b, t, c))


class SeparateAttention(nn.Module):
    """A matrix for each of queries, keys and values, without bias; PyTorch's attention."""

    def __init__(self, dropout):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.dropout = dropout

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (w(x).view(b, t, HEADS, c // HEADS).transpose(1, 2) for w in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, attention, dropout):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(WIDTH), attention(dropout)
        self.ln2, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop(self.attn(self.ln1(x)))
        return x + self.drop(self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh")))


class GPT(nn.Module):
    """With targets the loss comes first. `attentions` has one for each block."""

    def __init__(self, attentions, tied, dropout=0.0):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList(Block(attention, dropout) for attention in attentions)
        self.ln_f, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        if tied:
            self.head.weight = self.wte.weight

    def forward(self, tokens, targets=None):
        positions = torch.arange(tokens.shape[1])
        x = self.drop(self.wte(tokens) + self.wpe(positions))
        for block in self.h:
            x = block(x)
        logits = self.head(self.ln_f(x))
        return logits if targets is None else (cross_entropy(logits, targets), logits)


class VisionTransformer(nn.Module):
    """Patches by a convolution, a class token, the encoder layer of PyTorch."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 4, stride=4)
        self.token = nn.Parameter(torch.randn(1, 1, WIDTH) * 0.02)
        self.places = nn.Parameter(torch.randn(1, 10, WIDTH) * 0.02)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(LAYERS)
        )
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))


class Residual(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside)
        self.conv2, self.bn2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside)
        self.short = None
        if stride != 1 or inside != outside:
            self.short = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.short is None else self.short(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.layers = nn.Sequential(Residual(8, 8, 1), Residual(8, 16, 2))
        self.head = nn.Linear(16, CLASSES)

    def forward(self, images, labels):
        x = self.layers(self.pool(F.relu(self.bn(self.conv(images)))))
        logits = self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))
        return F.cross_entropy(logits, labels), logits


class Double(nn.Sequential):
    def __init__(self, inside, outside):
        layers = []
        for n in (inside, outside):
            layers += [nn.Conv2d(n, outside, 3, padding=1), nn.GroupNorm(4, outside), nn.SiLU()]
        super().__init__(*layers)


class UNet(nn.Module):
    """Two scales; what goes up is joined to what went down."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = Double(3, 8), Double(8, 12), Double(12, 16)
        self.raise2, self.up2 = nn.ConvTranspose2d(16, 12, 2, stride=2), Double(24, 12)
        self.raise1, self.up1 = nn.ConvTranspose2d(12, 8, 2, stride=2), Double(16, 8)
        self.head = nn.Conv2d(8, 3, 1)

    def forward(self, images, targets):
        a = self.down1(images)
        b = self.down2(F.max_pool2d(a, 2))
        x = self.middle(F.max_pool2d(b, 2))
        x = self.up2(torch.cat([self.raise2(x), b], dim=1))
        x = self.head(self.up1(torch.cat([self.raise1(x), a], dim=1)))
        return F.mse_loss(x, targets), x


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=LAYERS, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, targets):
        logits = self.head(self.lstm(self.embed(tokens))[0])
        return cross_entropy(logits, targets), logits


class WithLoss(nn.Module):
    """A model of Hugging Face that is given labels: loss and logits alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model


class Causal(WithLoss):
    def forward(self, tokens, targets):
        logits = self.model(input_ids=tokens, use_cache=False).logits
        return cross_entropy(logits, targets), logits


class Masked(WithLoss):
    def forward(self, tokens, mask, labels):
        result = self.model(input_ids=tokens, attention_mask=mask, labels=labels)
        return result.loss, result.logits


class Images(WithLoss):
    def forward(self, images, labels):
        result = self.model(pixel_values=images, labels=labels)
        return result.loss, result.logits


def make_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return Causal(GPT2LMHeadModel(GPT2Config(
        vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)))


def make_llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    return Causal(LlamaForCausalLM(LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=40, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=2, max_position_embeddings=LENGTH)))


def make_bert():
    from transformers import BertConfig, BertForMaskedLM

    return Masked(BertForMaskedLM(BertConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=40, max_position_embeddings=LENGTH, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0)))


def make_hf_vit():
    from transformers import ViTConfig, ViTForImageClassification

    return Images(ViTForImageClassification(ViTConfig(
        hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=40,
        image_size=12, patch_size=4, num_labels=CLASSES, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0)))


def padding(generator, samples):
    """1 where a token counts: the first ones of each row, at least a third."""
    lengths = torch.randint(LENGTH // 3, LENGTH + 1, (samples, 1), generator=generator)
    return (torch.arange(LENGTH)[None, :] < lengths).to(torch.int64)


def masked_labels(generator, samples):
    """Labels of a third of the tokens, -100 elsewhere."""
    found = tokens(generator, samples)
    return torch.where(torch.rand(found.shape, generator=generator) < 1 / 3, found, -100)


LANGUAGE = {"tokens": tokens, "targets": tokens}
CASES = {
    "gpt_fused": Case(lambda: GPT([FusedAttention] * LAYERS, True), LANGUAGE, ("loss", "logits")),
    "gpt_separate": Case(lambda: GPT([SeparateAttention] * LAYERS, False), {"tokens": tokens}, ("logits",), "next-token"),
    "gpt_attention": Case(lambda: GPT([SeparateAttention] * LAYERS, True), LANGUAGE, ("loss", "logits"),
                          options={"opset_version": 23}),
    "gpt_dropout": Case(lambda: GPT([FusedAttention, SeparateAttention], True, 0.1), LANGUAGE, ("loss", "logits"), random=True),
    "vit": Case(VisionTransformer, {"images": pixels(12)}, ("logits",), "classification",
                dynamic={"images": {0: "batch"}}),
    "resnet": Case(ResNet, {"images": pixels(12), "labels": labels}, ("loss", "logits")),
    "unet": Case(UNet, {"images": pixels(8), "targets": pixels(8)}, ("loss", "prediction")),
    "lstm": Case(LSTM, LANGUAGE, ("loss", "logits")),
    "hf_gpt2": Case(make_gpt2, LANGUAGE, ("loss", "logits")),
    "hf_llama": Case(make_llama, LANGUAGE, ("loss", "logits"),
                     dynamic={"tokens": {0: "batch", 1: "length"}, "targets": {0: "batch", 1: "length"}}),
    "hf_bert": Case(make_bert, {"tokens": tokens, "mask": padding, "labels": masked_labels}, ("loss", "logits")),
    "hf_vit": Case(make_hf_vit, {"images": pixels(12), "labels": labels}, ("loss", "logits")),
}

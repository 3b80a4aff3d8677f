//===- ActionRead.cpp - Records to instructions ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kind of instruction from its pool; every range is checked.
//
// Test: test/Runtime/Plan/Format/PlanFileTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanReader.h"

namespace llmc::rt::plan {

template <typename T>
std::vector<T> PlanReader::numbers(const fb::Range &range) {
  std::vector<T> values;
  if (!fits(range, sizeOfVector(flat_.numbers()))) {
    return values;
  }
  for (uint32_t i = 0; i < range.count(); ++i) {
    int64_t value = flat_.numbers()->Get(range.first() + i);
    if constexpr (sizeof(T) < sizeof(int64_t)) {
      // A value that does not fit would change its meaning.
      int64_t high = sizeof(T) == 4 ? INT32_MAX : UINT8_MAX;
      failed_ |= value > high || value < (sizeof(T) == 4 ? INT32_MIN : 0);
    }
    values.push_back(static_cast<T>(value));
  }
  return values;
}

Operand PlanReader::operand(uint32_t index) {
  Operand operand;
  const fb::Operand *flat = item(flat_.operands(), index);
  if (!flat) {
    return operand;
  }
  operand.buffer = flat->buffer();
  operand.dtype = static_cast<DType>(flat->dtype());
  operand.expr = flat->expr();
  operand.offset = flat->offset();
  fb::Range shape(flat->dims().first(), flat->rank());
  operand.shape = numbers<int64_t>(shape);
  if (flat->strided()) {
    // Wraps at most to a range that is checked like any other.
    fb::Range strides(flat->dims().first() + flat->rank(), flat->rank());
    operand.strides = numbers<int64_t>(strides);
  }
  return operand;
}

std::vector<Operand> PlanReader::operands(const fb::Range &range) {
  std::vector<Operand> list;
  if (fits(range, sizeOfVector(flat_.operands()))) {
    for (uint32_t i = 0; i < range.count(); ++i) {
      list.push_back(operand(range.first() + i));
    }
  }
  return list;
}

/// Takes the last operand off `list`: the scratch or workspace.
Operand PlanReader::takeLast(std::vector<Operand> &list) {
  if (list.empty()) {
    failed_ = true;
    return {};
  }
  Operand last = std::move(list.back());
  list.pop_back();
  return last;
}

KernelLaunch PlanReader::kernelLaunch(uint32_t index) {
  KernelLaunch launch;
  const fb::KernelLaunch *flat = item(flat_.launches(), index);
  if (!flat) {
    return launch;
  }
  launch.kernel = flat->kernel();
  launch.operands = operands(flat->operands());
  launch.scratch = takeLast(launch.operands);
  launch.access = numbers<Access>(flat->access());
  launch.scalars = numbers<ExprId>(flat->scalars());
  launch.operations = flat->operations();
  return launch;
}

std::vector<ContractionIndex> PlanReader::indices(const fb::Range &range) {
  std::vector<ContractionIndex> indices;
  std::vector<int64_t> flat = numbers<int64_t>(range);
  failed_ |= flat.size() % 6 != 0;
  for (size_t i = 0; i + 6 <= flat.size(); i += 6) {
    failed_ |= flat[i] < 0 || flat[i] > UINT8_MAX;
    indices.push_back({static_cast<ContractionIndexKind>(flat[i]), flat[i + 1],
                       flat[i + 2], flat[i + 3], flat[i + 4], flat[i + 5]});
  }
  return indices;
}

ContractionShape PlanReader::contraction(uint32_t index) {
  ContractionShape shape;
  const fb::Contraction *flat = item(flat_.contractions(), index);
  if (!flat) {
    return shape;
  }
  shape.indices = indices(flat->indices());
  shape.a = static_cast<DType>(flat->a());
  shape.b = static_cast<DType>(flat->b());
  shape.c = static_cast<DType>(flat->c());
  shape.bias = static_cast<DType>(flat->bias());
  shape.accumulate = static_cast<DType>(flat->accumulate());
  shape.alpha = flat->alpha();
  shape.beta = flat->beta();
  shape.hasBias = flat->has_bias();
  shape.activation = static_cast<Activation>(flat->activation());
  return shape;
}

ConvolutionShape PlanReader::convolution(uint32_t index) {
  ConvolutionShape shape;
  const fb::Convolution *flat = item(flat_.convolutions(), index);
  if (!flat) {
    return shape;
  }
  shape.indices = indices(flat->indices());
  std::vector<int64_t> numbers = this->numbers<int64_t>(flat->windows());
  failed_ |= numbers.size() % 11 != 0;
  for (size_t i = 0; i + 11 <= numbers.size(); i += 11) {
    const int64_t *window = &numbers[i];
    failed_ |= window[10] != 0 && window[10] != 1;
    shape.windows.push_back({window[0], window[1], window[2], window[3],
                             window[4], window[5], window[6], window[7],
                             window[8], window[9], window[10] == 1});
  }
  shape.a = static_cast<DType>(flat->a());
  shape.b = static_cast<DType>(flat->b());
  shape.c = static_cast<DType>(flat->c());
  shape.bias = static_cast<DType>(flat->bias());
  shape.accumulate = static_cast<DType>(flat->accumulate());
  shape.beta = flat->beta();
  shape.hasBias = flat->has_bias();
  return shape;
}

AttentionShape PlanReader::attention(uint32_t index) {
  AttentionShape shape;
  const fb::Attention *flat = item(flat_.attentions(), index);
  if (!flat) {
    return shape;
  }
  constexpr size_t width = attentionStrides.size() + 2;
  std::vector<int64_t> numbers = this->numbers<int64_t>(flat->indices());
  failed_ |= numbers.size() % width != 0;
  for (size_t i = 0; i + width <= numbers.size(); i += width) {
    failed_ |= numbers[i] < 0 || numbers[i] > UINT8_MAX;
    AttentionIndex &each = shape.indices.emplace_back();
    each.kind = static_cast<AttentionIndexKind>(numbers[i]);
    each.size = numbers[i + 1];
    for (size_t j = 0; j < attentionStrides.size(); ++j) {
      each.*attentionStrides[j].stride = numbers[i + 2 + j];
    }
  }
  shape.dtype = static_cast<DType>(flat->dtype());
  shape.accumulate = static_cast<DType>(flat->accumulate());
  shape.scale = flat->scale();
  shape.isGradient = flat->is_gradient();
  shape.isSafe = flat->is_safe();
  shape.isCausal = flat->is_causal();
  shape.shift = flat->shift();
  shape.hasOffset = flat->has_offset();
  shape.hasBias = flat->has_bias();
  shape.bias = static_cast<DType>(flat->bias());
  const fb::Dropout &dropout = flat->dropout();
  shape.dropout = {static_cast<RandomBits>(dropout.bits()),
                   dropout.keeps_below(), dropout.limit(), dropout.factor()};
  return shape;
}

ArgsortShape PlanReader::argsort(uint32_t index) {
  ArgsortShape shape;
  const fb::Argsort *flat = item(flat_.argsorts(), index);
  if (!flat) {
    return shape;
  }
  std::vector<int64_t> numbers = this->numbers<int64_t>(flat->keys());
  failed_ |= numbers.size() % 2 != 0;
  for (size_t i = 0; i + 2 <= numbers.size(); i += 2) {
    failed_ |= numbers[i] < 0 || numbers[i] > UINT8_MAX;
    failed_ |= numbers[i + 1] != 0 && numbers[i + 1] != 1;
    shape.keys.push_back({static_cast<DType>(numbers[i]), numbers[i + 1] == 1});
  }
  shape.outer = flat->outer();
  shape.size = flat->size();
  shape.inner = flat->inner();
  shape.count = flat->count();
  return shape;
}

GroupedContractionShape PlanReader::groupedContraction(uint32_t index) {
  GroupedContractionShape shape;
  const fb::GroupedContraction *flat =
      item(flat_.grouped_contractions(), index);
  if (!flat) {
    return shape;
  }
  shape.product = contraction(flat->product());
  shape.rows = flat->rows();
  shape.sizes = static_cast<DType>(flat->sizes());
  shape.numSizes = flat->num_sizes();
  shape.groups = flat->groups();
  shape.stride = flat->stride();
  shape.hasOwnSizes = flat->has_own_sizes();
  shape.hasFirst = flat->has_first();
  return shape;
}

LibraryDescriptor PlanReader::descriptor(uint8_t kind, uint32_t index) {
  switch (kind) {
  case 0:
    return contraction(index);
  case 1:
    return convolution(index);
  case 2:
    return attention(index);
  case 3:
    return argsort(index);
  case 4:
    return groupedContraction(index);
  default:
    failed_ = true;
    return {};
  }
}

Library PlanReader::library(uint32_t index) {
  Library library;
  const fb::Library *flat = item(flat_.libraries(), index);
  if (!flat) {
    return library;
  }
  library.descriptor = descriptor(flat->kind(), flat->descriptor());
  library.operands = operands(flat->operands());
  library.workspace = takeLast(library.operands);
  library.access = numbers<Access>(flat->access());
  library.workspaceBytes = flat->workspace_bytes();
  library.form = flat->form();
  return library;
}

Collective PlanReader::collective(uint32_t index) {
  Collective collective;
  const fb::Collective *flat = item(flat_.collectives(), index);
  if (!flat) {
    return collective;
  }
  std::vector<Operand> list = operands(flat->operands());
  if (list.size() % 2 != 1) {
    failed_ = true;
    return collective;
  }
  size_t count = list.size() / 2;
  collective.counts = std::move(list.back());
  collective.inputs.assign(list.begin(), list.begin() + count);
  collective.outputs.assign(list.begin() + count, list.begin() + 2 * count);
  collective.symbol = flat->symbol();
  collective.kind = static_cast<CollectiveKind>(flat->kind());
  collective.axes = numbers<int32_t>(flat->axes());
  collective.stages = numbers<int32_t>(flat->stages());
  collective.reduction = static_cast<ReductionKind>(flat->reduction());
  collective.dim = flat->dim();
  collective.concatDim = flat->concat_dim();
  collective.peer = flat->peer();
  return collective;
}

Message PlanReader::message(const fb::Message &flat) {
  return {flat.transfer(), flat.peer(), operands(flat.operands())};
}

Message PlanReader::message(uint32_t index) {
  const fb::Message *flat = item(flat_.messages(), index);
  return flat ? message(*flat) : Message();
}

std::vector<Message> PlanReader::messages(const fb::Range &range) {
  std::vector<Message> list;
  if (fits(range, sizeOfVector(flat_.messages()))) {
    for (uint32_t i = 0; i < range.count(); ++i) {
      list.push_back(message(range.first() + i));
    }
  }
  return list;
}

Exchange PlanReader::exchange(uint32_t index) {
  const fb::Exchange *flat = item(flat_.exchanges(), index);
  return flat ? Exchange{messages(flat->sends()), messages(flat->receives())}
              : Exchange();
}

Copy PlanReader::copy(uint32_t index) {
  Copy copy;
  const fb::Copy *flat = item(flat_.copies(), index);
  if (!flat) {
    return copy;
  }
  std::vector<Operand> list = operands(flat->operands());
  if (list.size() != 2) {
    failed_ = true;
    return copy;
  }
  return {std::move(list[0]), std::move(list[1]),
          static_cast<HostEnd>(flat->host()), flat->index()};
}

Fill PlanReader::fill(uint32_t index) {
  const fb::Fill *flat = item(flat_.fills(), index);
  return flat ? Fill{operand(flat->operand()), flat->pattern()} : Fill();
}

EventRef PlanReader::event(uint32_t index) {
  const fb::Event *flat = item(flat_.events(), index);
  return flat ? EventRef{flat->frame(), flat->event()} : EventRef();
}

Call PlanReader::call(uint32_t index) {
  const fb::Call *flat = item(flat_.calls(), index);
  return flat ? Call{flat->program(), flat->microbatch(),
                     numbers<ExprId>(flat->arguments())}
              : Call();
}

Loop PlanReader::loop(uint32_t index) {
  const fb::Loop *flat = item(flat_.loops(), index);
  return flat ? Loop{flat->trips(), flat->program(),
                     numbers<ExprId>(flat->arguments())}
              : Loop();
}

Branch PlanReader::branch(uint32_t index) {
  const fb::Branch *flat = item(flat_.branches(), index);
  return flat ? Branch{operand(flat->operand()), flat->program()} : Branch();
}

While PlanReader::conditional(uint32_t index) {
  const fb::While *flat = item(flat_.whiles(), index);
  return flat ? While{operand(flat->operand()), flat->program()} : While();
}

Action PlanReader::action(uint8_t kind, uint32_t index) {
  switch (kind) {
  case 0:
    return kernelLaunch(index);
  case 1:
    return library(index);
  case 2:
    return collective(index);
  case 3:
    return Send{message(index)};
  case 4:
    return Receive{message(index)};
  case 5:
    return exchange(index);
  case 6:
    return copy(index);
  case 7:
    return fill(index);
  case 8:
    return Signal{event(index)};
  case 9:
    return Wait{event(index)};
  case 10:
    return call(index);
  case 11:
    return loop(index);
  case 12:
    return branch(index);
  case 13:
    return conditional(index);
  default:
    failed_ = true;
    return Signal();
  }
}

} // namespace llmc::rt::plan

//===- Collective.cpp - Collectives over the buffers of all members -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All members' buffers lie in this process, so a collective is arithmetic: for
// each element, combine the members' values in rank order in the accumulate
// type, and write one rounded result to whoever wants it. Hence the same bits
// on all members, for any cut into tickets.
//
//   block of 256 elements:  acc = in[0]; acc += in[1]; ...; out[*] = acc
//
// A block is read from all members before it is written to any, so out may
// coincide with in. Tested by test/Runtime/Comm/ConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Members.h"
#include "RaggedCollective.h"
#include "llmc/Runtime/Base/SeededFault.h"

#include <algorithm>
#include <cstring>

namespace llmc::rt::cpu {

/// Elements of a block on the stack, and the least work of a ticket in bytes.
constexpr int64_t blockElements = 256;
constexpr uint64_t leastTicketBytes = 64 * 1024;

namespace {

// Elements in memory -> accumulate type and back.
template <typename T, typename Acc> struct Plain {
  static Acc load(const char *p, int64_t i) {
    T value;
    std::memcpy(&value, p + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return static_cast<Acc>(value);
  }
  static void store(char *p, int64_t i, Acc value) {
    T narrow = static_cast<T>(value);
    std::memcpy(p + i * static_cast<int64_t>(sizeof(T)), &narrow, sizeof(T));
  }
};
template <typename Acc, float (*widen)(uint16_t), uint16_t (*narrow)(float)>
struct Half {
  static Acc load(const char *p, int64_t i) {
    uint16_t bits;
    std::memcpy(&bits, p + 2 * i, 2);
    return static_cast<Acc>(widen(bits));
  }
  static void store(char *p, int64_t i, Acc value) {
    uint16_t bits = narrow(static_cast<float>(value));
    std::memcpy(p + 2 * i, &bits, 2);
  }
};
/// Floats of eight bits, and integers of four, which wrap.
template <typename Acc, DType type> struct Small {
  static Acc load(const char *p, int64_t i) {
    return static_cast<Acc>(loadElement(type, p, i));
  }
  static void store(char *p, int64_t i, Acc value) {
    if (isFloat(type)) {
      storeElement(type, p, i, static_cast<double>(value));
    } else {
      storeInteger(type, p, i, static_cast<int64_t>(value));
    }
  }
};
template <typename Acc> using BFloat16 = Half<Acc, fromBFloat16, toBFloat16>;
template <typename Acc> using Float16 = Half<Acc, fromFloat16, toFloat16>;

/// Reduces elements [begin, end) of the n inputs to the given outputs.
using ReduceFunction = void (*)(const char *const *ins, int numIns,
                                char *const *outs, int numOuts, int64_t begin,
                                int64_t end);

template <typename Element, typename Acc, typename Op>
void reduceSpan(const char *const *ins, int numIns, char *const *outs,
                int numOuts, int64_t begin, int64_t end) {
  Acc block[blockElements];
  for (int64_t at = begin; at < end; at += blockElements) {
    int64_t size = std::min(blockElements, end - at);
    const char *in = ins[0];
    for (int64_t i = 0; i < size; ++i) {
      block[i] = Element::load(in, at + i);
    }
    for (int rank = 1; rank < numIns; ++rank) {
      in = ins[rank];
      for (int64_t i = 0; i < size; ++i) {
        block[i] = Op::apply(block[i], Element::load(in, at + i));
      }
    }
    for (int rank = 0; rank < numOuts; ++rank) {
      // A copy: what is stored might be the list of places itself.
      char *out = outs[rank];
      for (int64_t i = 0; i < size; ++i) {
        Element::store(out, at + i, block[i]);
      }
    }
  }
}

template <typename Element, typename Acc>
ReduceFunction chooseOp(ReductionKind reduction) {
  return withReduction(reduction, [](auto op) -> ReduceFunction {
    return reduceSpan<Element, Acc, decltype(op)>;
  });
}

/// Integers are reduced in their own type: modulo 2^bits, which is exact.
template <typename T> ReduceFunction chooseInteger(ReductionKind reduction) {
  return chooseOp<Plain<T, T>, T>(reduction);
}

template <DType type> ReduceFunction chooseSmall(const Collective &c) {
  if (!isFloat(type)) {
    return chooseOp<Small<int64_t, type>, int64_t>(c.reduction);
  }
  return c.accumulate == DType::f64
             ? chooseOp<Small<double, type>, double>(c.reduction)
             : chooseOp<Small<float, type>, float>(c.reduction);
}

ReduceFunction chooseReduction(const Collective &c) {
  bool wide = c.accumulate == DType::f64;
  switch (c.type) {
  case DType::f64:
    return chooseOp<Plain<double, double>, double>(c.reduction);
  case DType::f32:
    return wide ? chooseOp<Plain<float, double>, double>(c.reduction)
                : chooseOp<Plain<float, float>, float>(c.reduction);
  case DType::bf16:
    return wide ? chooseOp<BFloat16<double>, double>(c.reduction)
                : chooseOp<BFloat16<float>, float>(c.reduction);
  case DType::f16:
    return wide ? chooseOp<Float16<double>, double>(c.reduction)
                : chooseOp<Float16<float>, float>(c.reduction);
  case DType::i8:
    return chooseInteger<int8_t>(c.reduction);
  case DType::i16:
    return chooseInteger<int16_t>(c.reduction);
  case DType::i32:
    return chooseInteger<int32_t>(c.reduction);
  case DType::i64:
    return chooseInteger<int64_t>(c.reduction);
  case DType::u8:
  case DType::i1:
    return chooseInteger<uint8_t>(c.reduction);
  case DType::u16:
    return chooseInteger<uint16_t>(c.reduction);
  case DType::u32:
    return chooseInteger<uint32_t>(c.reduction);
  case DType::u64:
    return chooseInteger<uint64_t>(c.reduction);
  case DType::i4:
    return chooseSmall<DType::i4>(c);
  case DType::u4:
    return chooseSmall<DType::u4>(c);
  case DType::f8E4M3FN:
    return chooseSmall<DType::f8E4M3FN>(c);
  case DType::f8E5M2:
    return chooseSmall<DType::f8E5M2>(c);
  case DType::f8E4M3FNUZ:
    return chooseSmall<DType::f8E4M3FNUZ>(c);
  case DType::f8E5M2FNUZ:
    return chooseSmall<DType::f8E5M2FNUZ>(c);
  case DType::f8E4M3B11FNUZ:
    return chooseSmall<DType::f8E4M3B11FNUZ>(c);
  }
  return nullptr;
}

/// All-reduce, and reduce to one member.
void reduceWhole(const Members &members, size_t index, Range range) {
  const char *ins[mostMembers];
  char *outs[mostMembers];
  const Collective &c = members.collective;
  int n = members.group.size(), numOuts = 0;
  for (int rank = 0; rank < n; ++rank) {
    ins[rank] = members.in(rank, index);
    char *out = members.out(rank, index);
    bool gets = traitsOf(c.kind).peer == CollectivePeer::none || rank == c.root;
    if (gets && out) {
      outs[numOuts++] = out;
    }
  }
  if (numOuts == 0) {
    return; // Nobody here wants it, and not all terms are here.
  }
  chooseReduction(c)(
      ins, isSeeded(Fault::reductionSkipsLastMember) ? std::max(n - 1, 1) : n,
      outs, numOuts, range.begin, range.end);
}

/// For each outer index o and member m: out_m[o] = reduce of in_*[o, m].
void reduceScatter(const Members &members, size_t index, Range range) {
  const char *ins[mostMembers];
  int n = members.group.size();
  const CollectiveBuffer &shape = members.collective.buffers[index];
  auto count = static_cast<int64_t>(shape.count);
  ReduceFunction reduce = chooseReduction(members.collective);
  for (int64_t o = 0; o < static_cast<int64_t>(shape.outer); ++o) {
    int64_t begin = std::max(range.begin, o * count);
    int64_t end = std::min(range.end, (o + 1) * count);
    for (int m = 0; m < n && begin < end; ++m) {
      char *out = members.out(
          isSeeded(Fault::reduceScatterSwapsParts) ? n - 1 - m : m, index);
      if (!out) {
        continue;
      }
      for (int rank = 0; rank < n; ++rank) {
        ByteRows rows = members.input(rank, m, index);
        ins[rank] = rows.data + o * (rows.step - count * members.elementBytes);
      }
      reduce(ins, n, &out, 1, begin, end);
    }
  }
}

/// Copies elements [begin, end) of a block that lies in `in` as rows of
/// `inRow` elements every `inStep`, and in `out` likewise.
void copyBlock(char *out, int64_t outRow, int64_t outStep, const char *in,
               int64_t inRow, int64_t inStep, Range range, int64_t bytes) {
  for (int64_t i = range.begin; i < range.end;) {
    int64_t length =
        std::min({inRow - i % inRow, outRow - i % outRow, range.end - i});
    const char *from = in + (i / inRow * inStep + i % inRow) * bytes;
    char *to = out + (i / outRow * outStep + i % outRow) * bytes;
    if (to != from) {
      std::memcpy(to, from, length * bytes);
    }
    i += length;
  }
}

/// All-gather and all-to-all: for each receiver and sender one block.
void moveBlocks(const Members &members, size_t index, Range range) {
  int64_t n = members.group.size(), bytes = members.elementBytes;
  const CollectiveBuffer &shape = members.collective.buffers[index];
  auto count = static_cast<int64_t>(shape.count);
  int64_t outRow = count;
  if (traitsOf(members.collective.kind).splitsInput) {
    outRow = static_cast<int64_t>(shape.outer * shape.count / shape.outerOut);
  }
  for (int to = 0; to < n && count > 0; ++to) {
    char *whole = members.out(to, index);
    for (int from = 0; from < n && whole; ++from) {
      ByteRows rows = members.input(from, to, index);
      char *out = whole + from * outRow * bytes;
      copyBlock(out, outRow, n * outRow, rows.data, count, rows.step / bytes,
                range, bytes);
    }
  }
}

/// Broadcast and permute: each member takes one other's buffer, or zero.
void moveWhole(const Members &members, size_t index, Range range) {
  const Collective &c = members.collective;
  int64_t offset = range.begin * members.elementBytes;
  int64_t bytes = (range.end - range.begin) * members.elementBytes;
  for (int to = 0; to < members.group.size(); ++to) {
    int from = traitsOf(c.kind).peer == CollectivePeer::root
                   ? c.root
                   : c.sources[static_cast<size_t>(to)];
    char *out = members.out(to, index);
    if (!out) {
      continue;
    }
    out += offset;
    if (from < 0) {
      std::memset(out, 0, bytes);
    } else if (const char *in = members.in(from, index) + offset; in != out) {
      std::memcpy(out, in, bytes);
    }
  }
}

} // namespace

int collectiveTickets(const Collective &collective, int threads) {
  uint64_t bytes = 0;
  for (const CollectiveBuffer &buffer : collective.buffers) {
    bytes += buffer.outer * buffer.count * sizeOf(collective.type);
  }
  return static_cast<int>(
      std::clamp<uint64_t>(bytes / leastTicketBytes, 1, std::max(1, threads)));
}

uint64_t movedBytes(const Group &group) {
  Members members = membersOf(group);
  return traitsOf(members.collective.kind).takesCounts
             ? raggedBytes(members)
             : payloadBytes(members.collective, group.size());
}

uint64_t payloadBytes(const Collective &collective, int members) {
  uint64_t bytes = 0;
  for (const CollectiveBuffer &buffer : collective.buffers) {
    bytes += buffer.outer * buffer.count * sizeOf(collective.type);
  }
  return traitsOf(collective.kind).splitsInput ? bytes * members : bytes;
}

bool isScalar(const Collective &collective, int members) {
  return !traitsOf(collective.kind).takesCounts &&
         payloadBytes(collective, members) ==
             collective.buffers.size() * sizeOf(collective.type);
}

ByteRows inputFor(const Collective &collective, size_t buffer, const char *in,
                  int n, int to) {
  const CollectiveBuffer &shape = collective.buffers[buffer];
  auto rows = static_cast<int64_t>(shape.outer);
  int64_t length = static_cast<int64_t>(shape.count) * sizeOf(collective.type);
  char *data = const_cast<char *>(in);
  return traitsOf(collective.kind).splitsInput
             ? ByteRows{data + to * length, rows, length, n * length}
             : ByteRows{data, rows, length, length};
}

void reduceElements(const Collective &collective, const char *const *ins,
                    int numIns, char *const *outs, int numOuts, int64_t begin,
                    int64_t end) {
  chooseReduction(collective)(ins, numIns, outs, numOuts, begin, end);
}

void runCollective(const Group &group, int ticket) {
  Members members = membersOf(group);
  const Collective &c = members.collective;
  for (size_t index = 0; index < c.buffers.size(); ++index) {
    const CollectiveBuffer &shape = c.buffers[index];
    int64_t elements =
        traitsOf(c.kind).takesCounts
            ? static_cast<int64_t>(shape.outer * c.rows.out * c.rows.elements)
            : static_cast<int64_t>(shape.outer * shape.count);
    Range range = ticketRange(elements, ticket, group.tickets);
    if (range.begin == range.end) {
      continue; // also of a buffer without elements
    }
    switch (c.kind) {
    case CollectiveKind::allReduce:
    case CollectiveKind::reduce:
      reduceWhole(members, index, range);
      break;
    case CollectiveKind::reduceScatter:
      reduceScatter(members, index, range);
      break;
    case CollectiveKind::allGather:
    case CollectiveKind::allToAll:
      moveBlocks(members, index, range);
      break;
    case CollectiveKind::broadcast:
    case CollectiveKind::permute:
      moveWhole(members, index, range);
      break;
    case CollectiveKind::raggedAllToAll:
      moveRows(members, range);
      break;
    }
  }
}

} // namespace llmc::rt::cpu

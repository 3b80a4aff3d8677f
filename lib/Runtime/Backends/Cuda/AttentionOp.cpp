//===- AttentionOp.cpp - An attention made ready by cuDNN -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/CudaAttentionTest.cpp on the stand-in of
// test/Runtime/StandIn, and by test/Runtime/Backends/Cuda/real-cudnn.test.
//
//===----------------------------------------------------------------------===//

#include "AttentionOp.h"

#include <fmt/format.h>

#include <cmath>

namespace llmc::rt::cuda {

using Attribute = CudnnAttribute;
using Tensor = CudnnGraph::Tensor;

/// As hardware that copies boxes wants them.
static constexpr int64_t bufferAlignment = 16;

/// Numbers of tensors beside those of the call's buffers.
static constexpr int64_t numberOfSums = 99, firstScalar = 100;

static uint64_t roundUp(int64_t size, int64_t step) {
  return static_cast<uint64_t>((size + step - 1) / step * step);
}

/// Sums of rows, which are ours, in front of what the engine works with.
static uint64_t bytesOfSums(const CudnnAttention &attention) {
  constexpr int64_t step = 256;
  return attention.isGradient
             ? roundUp(attention.samples() * attention.heads() *
                           attention.numRows() *
                           static_cast<int64_t>(sizeof(float)),
                       step)
             : 0;
}

uint64_t attentionWorkspace(const CudnnAttention &attention) {
  uint64_t bytes = (uint64_t(1) << 20) + bytesOfSums(attention);
  if (!attention.isGradient) {
    return bytes;
  }
  constexpr int64_t tile = 128;
  constexpr uint64_t perScore = 6, perElement = 2; // f32 and 16 bits; 16 bits.
  auto heads = static_cast<uint64_t>(attention.samples() * attention.heads());
  uint64_t columns = roundUp(attention.numColumns(), tile);
  bytes += heads * roundUp(attention.numRows(), tile) * columns * perScore;
  if (attention.heads() != attention.keyHeads()) {
    auto features =
        static_cast<uint64_t>(attention.k.sizes[3] + attention.v.sizes[3]);
    bytes += heads * columns * features * perElement;
  }
  return bytes;
}

AttentionOp::AttentionOp(const Cudnn &cudnn, CudnnPlace place,
                         CudnnAttention found, uint64_t workspaceBytes)
    : cudnn(cudnn), place(place), attention(std::move(found)),
      workspaceBytes(workspaceBytes), graph(cudnn),
      element(cudnnTypeOf(attention.dtype)),
      factor(static_cast<float>(attention.scale)), nothing(-INFINITY),
      shift(static_cast<int32_t>(attention.shift)) {
  rows = {attention.samples(), attention.heads(), attention.numRows(), 1};
  scores = rows;
  scores[3] = attention.numColumns();
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

Tensor AttentionOp::addBuffer(const CudnnTensor &tensor) {
  buffers.push_back(&tensor);
  return graph.addBuffer(tensor.operand, element, tensor.sizes, tensor.strides,
                         bufferAlignment);
}

Tensor AttentionOp::addRows(const CudnnTensor &tensor) {
  buffers.push_back(&tensor);
  return graph.addBuffer(tensor.operand, CudnnData::f32, tensor.sizes,
                         tensor.strides, sizeof(float));
}

/// With features in front of lines.
Tensor AttentionOp::addTransposed(const CudnnTensor &tensor) {
  CudnnGraph::Sizes sizes = tensor.sizes, strides = tensor.strides;
  std::swap(sizes[2], sizes[3]);
  std::swap(strides[2], strides[3]);
  buffers.push_back(&tensor);
  return graph.addBuffer(tensor.operand, element, sizes, strides,
                         bufferAlignment);
}

/// A number of the host, which keeps it: one tensor, however often it is read.
Tensor AttentionOp::addScalar(const void *value, CudnnData type) {
  for (const Scalar &known : scalars) {
    if (known.value == value) {
      return known.tensor;
    }
  }
  auto number = static_cast<int64_t>(firstScalar + scalars.size());
  scalars.push_back({number, graph.addScalar(number, type), value});
  return scalars.back().tensor;
}

/// A result of scores.
Tensor AttentionOp::point(CudnnPoint mode, Tensor x, Tensor b) {
  Tensor y = addScores();
  graph.point(mode, x, y, {b});
  return y;
}

Tensor AttentionOp::scale(Tensor x) {
  return point(CudnnPoint::multiply, x, addScalar(&factor, CudnnData::f32));
}

/// -inf where row + shift < column.
Tensor AttentionOp::hide(Tensor x) {
  if (!attention.isCausal) {
    return x;
  }
  constexpr int64_t ofRows = 2, ofColumns = 3;
  auto integers = [&] { return graph.addVirtual(CudnnData::i32, scores); };
  Tensor row = integers(), column = integers();
  graph.point(CudnnPoint::index, x, row, {{}, {}, CudnnData::i32, ofRows});
  graph.point(CudnnPoint::index, x, column,
              {{}, {}, CudnnData::i32, ofColumns});
  if (shift != 0) {
    Tensor moved = integers();
    graph.point(CudnnPoint::add, row, moved,
                {addScalar(&shift, CudnnData::i32), {}, CudnnData::i32});
    row = moved;
  }
  Tensor seen = graph.addVirtual(CudnnData::boolean, scores), y = addScores();
  graph.point(CudnnPoint::isAtLeast, row, seen,
              {column, {}, CudnnData::boolean});
  graph.point(CudnnPoint::select, x, y,
              {addScalar(&nothing, CudnnData::f32), seen});
  return y;
}

void AttentionOp::buildForward() {
  Tensor q = addBuffer(attention.q), k = addTransposed(attention.k),
         products = addScores();
  graph.multiply(q, k, products);
  Tensor shown = hide(scale(products));
  auto ofRows = [&] { return graph.addVirtual(CudnnData::f32, rows); };
  Tensor greatest = ofRows(), sum = ofRows(), logarithm = ofRows();
  graph.takeGreatest(shown, greatest);
  Tensor shifted = point(CudnnPoint::subtract, shown, greatest),
         powers = addScores();
  graph.point(CudnnPoint::exponential, shifted, powers, {});
  graph.addUp(powers, sum);
  graph.point(CudnnPoint::logarithm, sum, logarithm, {});
  graph.point(CudnnPoint::add, greatest, addRows(attention.rows), {logarithm});
  Tensor weights = graph.addVirtual(element, scores);
  graph.point(CudnnPoint::divide, powers, weights, {sum});
  Tensor v = addBuffer(attention.v);
  graph.multiply(weights, v, addBuffer(attention.out));
}

/// Scores as a factor, with columns in front of rows.
Tensor AttentionOp::flip(Tensor x) {
  CudnnGraph::Sizes sizes = {scores[0], scores[1], scores[3], scores[2]};
  int64_t head = scores[2] * scores[3];
  Tensor y =
      graph.addVirtual(element, sizes, {scores[1] * head, head, 1, scores[3]});
  graph.reshape(x, y);
  return y;
}

/// The product, added up over heads that share k and v.
void AttentionOp::multiplyForKeys(Tensor a, Tensor b,
                                  const CudnnTensor &result) {
  if (attention.heads() == attention.keyHeads()) {
    graph.multiply(a, b, addBuffer(result));
    return;
  }
  CudnnGraph::Sizes sizes = result.sizes;
  sizes[1] = attention.heads();
  Tensor all = graph.addVirtual(element, sizes);
  graph.multiply(a, b, all);
  graph.addUp(all, addBuffer(result));
}

void AttentionOp::buildGradient() {
  Tensor cotangent = addBuffer(attention.out);
  CudnnGraph::Sizes packed = {rows[1] * rows[2], rows[2], 1, 1};
  Tensor sums = graph.addBuffer(numberOfSums, CudnnData::f32, rows, packed,
                                sizeof(float));
  graph.point(CudnnPoint::multiply, addRows(attention.delta), sums,
              {addScalar(&one, CudnnData::f32)});
  Tensor q = addBuffer(attention.q), k = addTransposed(attention.k),
         products = addScores();
  graph.multiply(q, k, products);
  Tensor shifted = hide(point(CudnnPoint::subtract, scale(products),
                              addRows(attention.rows))),
         weights = addScores();
  graph.point(CudnnPoint::exponential, shifted, weights, {});
  multiplyForKeys(flip(weights), cotangent, attention.dv);
  Tensor ofWeights = addScores();
  graph.multiply(cotangent, addTransposed(attention.v), ofWeights);
  Tensor difference = point(CudnnPoint::subtract, ofWeights, sums),
         ofScores = scale(point(CudnnPoint::multiply, difference, weights));
  multiplyForKeys(flip(ofScores), q, attention.dk);
  Tensor lines =
      graph.addVirtual(element, attention.k.sizes, attention.k.strides);
  graph.reshape(k, lines);
  graph.multiply(ofScores, lines, addBuffer(attention.dq));
}

Status AttentionOp::prepare(const std::string &called) {
  name = called;
  // Older ones also want the lowest number in place of minus infinity.
  constexpr size_t leastVersion = 91600;
  if (size_t version = cudnn.cudnnGetVersion(); version < leastVersion) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected cuDNN {} or later for attention "
                                 "'{}', got {}",
                                 leastVersion, name, version))
        .withHint("compile the plan without '+cudnn'");
  }
  attention.isGradient ? buildGradient() : buildForward();
  LLMC_TRY_ASSIGN(const CudnnObject *made, graph.finalize(place));
  uint64_t own = bytesOfSums(attention);
  uint64_t left = workspaceBytes < own ? 0 : workspaceBytes - own;
  LLMC_TRY_ASSIGN(engine, chooseEngine(cudnn, place, *made, {true, left},
                                       "attention '" + name + "'"));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Status AttentionOp::enqueue(CUstream stream, const uint64_t *given,
                            void *workspace) const {
  std::vector<int64_t> numbers;
  std::vector<const void *> pointers;
  auto give = [&](int64_t number, const void *pointer) {
    numbers.push_back(number);
    pointers.push_back(pointer);
  };
  for (const Scalar &scalar : scalars) {
    give(scalar.number, scalar.value);
  }
  if (attention.isGradient) {
    give(numberOfSums, workspace);
  }
  for (const CudnnTensor *tensor : buffers) {
    uint64_t address = given[tensor->operand];
    bool isRow = tensor == &attention.rows || tensor == &attention.delta;
    if (address % (isRow ? sizeof(float) : bufferAlignment) != 0) {
      return makeError(ErrorKind::mismatch,
                       fmt::format("expected buffers of attention '{}' at "
                                   "multiples of 16 bytes, got one at {}",
                                   name, address))
          .withHint("compile the plan without '+cudnn'");
    }
    give(tensor->operand, reinterpret_cast<const void *>(address));
  }
  void *rest = static_cast<char *>(workspace) + bytesOfSums(attention);
  LLMC_TRY_ASSIGN(CudnnObject pack,
                  CudnnObject::make(cudnn, CudnnKind::variantPack));
  LLMC_TRY(pack.set(Attribute::packNumbers, numbers));
  LLMC_TRY(pack.set(Attribute::packPointers, CudnnType::pointer,
                    static_cast<int64_t>(pointers.size()), pointers.data()));
  LLMC_TRY(pack.set(Attribute::packWorkspace, CudnnType::pointer, 1, &rest));
  LLMC_TRY(pack.finalize());
  LLMC_TRY(cudnn.check(cudnn.cudnnSetStream(place.handle, stream),
                       "cudnnSetStream"));
  return cudnn.check(
      cudnn.cudnnBackendExecute(place.handle, engine.plan.get(), pack.get()),
      "cudnnBackendExecute");
}

} // namespace llmc::rt::cuda

//===- PlanBuilder.cpp - Plans by hand ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Format/PlanBuilderTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

#include <algorithm>

namespace llmc::rt::plan {

static int64_t roundUp(int64_t value) {
  return (value + alignment - 1) / alignment * alignment;
}

template <typename T> static int32_t append(std::vector<T> &table, T value) {
  table.push_back(std::move(value));
  return static_cast<int32_t>(table.size()) - 1;
}

PlanBuilder::PlanBuilder(Mesh mesh) { plan_.mesh = std::move(mesh); }

static ExprId share(ExprTable &table, const ExprNode &node) {
  for (size_t i = 0; i < table.size(); ++i) {
    const ExprNode &old = table[i];
    if (old.op == node.op && old.lhs == node.lhs && old.rhs == node.rhs &&
        old.value == node.value) {
      return static_cast<ExprId>(i);
    }
  }
  return append(table, node);
}

ExprId PlanBuilder::constant(int64_t value) {
  return share(plan_.expressions, {ExprOp::constant, noExpr, noExpr, value});
}

ExprId PlanBuilder::coordinate(int32_t axis) {
  return share(plan_.expressions, {ExprOp::coordinate, noExpr, noExpr, axis});
}

ExprId PlanBuilder::microbatch() {
  return share(plan_.expressions, {ExprOp::microbatch, noExpr, noExpr, 0});
}

ExprId PlanBuilder::binary(ExprOp op, ExprId lhs, ExprId rhs) {
  return share(plan_.expressions, {op, lhs, rhs, 0});
}

int32_t PlanBuilder::addStream(std::string name, StreamKind kind,
                               int32_t priority) {
  return append(plan_.streams, {std::move(name), kind, priority});
}

int32_t PlanBuilder::addFrame(std::string name, FrameKind kind, int32_t slots,
                              ExprId slot, std::vector<int32_t> stages) {
  Frame frame;
  frame.name = std::move(name);
  frame.kind = kind;
  frame.slots = slots;
  frame.slot = slot;
  frame.stages = std::move(stages);
  return append(plan_.frames, std::move(frame));
}

int32_t PlanBuilder::addBuffer(int32_t frame, std::string name, DType dtype,
                               std::vector<int64_t> shape) {
  return addBufferAt(frame, roundUp(plan_.frames[frame].size), std::move(name),
                     dtype, std::move(shape));
}

int32_t PlanBuilder::addBufferAt(int32_t frame, int64_t offset,
                                 std::string name, DType dtype,
                                 std::vector<int64_t> shape) {
  int64_t bytes = sizeOf(dtype);
  for (int64_t size : shape) {
    bytes *= size;
  }
  plan_.frames[frame].size = std::max(plan_.frames[frame].size, offset + bytes);
  bufferTypes_.push_back({dtype, std::move(shape)});
  return append(plan_.buffers, {frame, offset, bytes, std::move(name), -1});
}

EventRef PlanBuilder::addEvent(int32_t frame) {
  return {frame, plan_.frames[frame].events++};
}

int32_t PlanBuilder::addSymbol(std::string name) {
  return append(plan_.symbols, std::move(name));
}

int32_t PlanBuilder::addTransfer(std::string name) {
  return append(plan_.transfers, std::move(name));
}

int32_t PlanBuilder::addKernel(std::string name, int32_t object) {
  return append(plan_.kernels, {std::move(name), object});
}

int32_t PlanBuilder::addProgram(std::string name, Phase phase, int32_t chunk) {
  Program program;
  program.name = std::move(name);
  program.phase = phase;
  program.chunk = chunk;
  return append(plan_.programs, std::move(program));
}

Operand PlanBuilder::view(int32_t buffer) const {
  Operand operand;
  operand.buffer = buffer;
  operand.dtype = bufferTypes_[buffer].first;
  operand.shape = bufferTypes_[buffer].second;
  return operand;
}

Operand PlanBuilder::view(int32_t buffer, int64_t offset,
                          std::vector<int64_t> shape,
                          std::vector<int64_t> strides, ExprId expr) const {
  Operand operand;
  operand.buffer = buffer;
  operand.dtype = bufferTypes_[buffer].first;
  operand.offset = offset;
  operand.shape = std::move(shape);
  operand.strides = std::move(strides);
  operand.expr = expr;
  return operand;
}

void PlanBuilder::emit(int32_t program, int32_t stream, Action action) {
  plan_.programs[program].instructions.push_back(
      {stream, -1, std::move(action)});
}

void PlanBuilder::kernel(int32_t program, int32_t stream, int32_t kernel,
                         std::vector<Use> operands,
                         std::vector<ExprId> scalars) {
  KernelLaunch launch;
  launch.kernel = kernel;
  for (Use &use : operands) {
    launch.operands.push_back(std::move(use.first));
    launch.access.push_back(use.second);
  }
  launch.scalars = std::move(scalars);
  emit(program, stream, std::move(launch));
}

void PlanBuilder::signal(int32_t program, int32_t stream, EventRef event) {
  emit(program, stream, Signal{event});
}

void PlanBuilder::wait(int32_t program, int32_t stream, EventRef event) {
  emit(program, stream, Wait{event});
}

static int64_t strideOf(const Operand &operand, size_t dim) {
  if (!operand.strides.empty()) {
    return operand.strides[dim];
  }
  int64_t stride = 1;
  for (size_t i = dim + 1; i < operand.shape.size(); ++i) {
    stride *= operand.shape[i];
  }
  return stride;
}

void PlanBuilder::matmul(int32_t program, int32_t stream, Operand a, Operand b,
                         Operand c, double beta) {
  using Kind = ContractionIndexKind;
  ContractionShape shape;
  shape.a = a.dtype;
  shape.b = b.dtype;
  shape.c = shape.accumulate = c.dtype;
  shape.indices = {{Kind::m, a.shape[0], strideOf(a, 0), 0, strideOf(c, 0)},
                   {Kind::n, b.shape[1], 0, strideOf(b, 1), strideOf(c, 1)},
                   {Kind::k, a.shape[1], strideOf(a, 1), strideOf(b, 0), 0}};
  shape.beta = beta;
  Library library;
  library.descriptor = std::move(shape);
  library.operands = {std::move(a), std::move(b), std::move(c)};
  library.access = {Access::read, Access::read,
                    beta == 0 ? Access::write : Access::readWrite};
  emit(program, stream, std::move(library));
}

/// A batch index, then row, column, depth and value.
static std::vector<AttentionIndex> attentionIndices(const Operand &q,
                                                    const Operand &k,
                                                    const Operand &v,
                                                    const Operand &out) {
  using Kind = AttentionIndexKind;
  std::vector<AttentionIndex> indices(5);
  auto set = [&](Kind kind, const Operand &operand, int32_t dim,
                 int64_t AttentionIndex::*stride) {
    AttentionIndex &index = indices[static_cast<size_t>(kind)];
    index.kind = kind;
    index.size = operand.shape[dim];
    index.*stride = strideOf(operand, dim);
  };
  for (auto [operand, stride, row, column] :
       {std::tuple(&q, &AttentionIndex::strideQ, Kind::row, Kind::depth),
        std::tuple(&k, &AttentionIndex::strideK, Kind::column, Kind::depth),
        std::tuple(&v, &AttentionIndex::strideV, Kind::column, Kind::value),
        std::tuple(&out, &AttentionIndex::strideOut, Kind::row, Kind::value)}) {
    set(Kind::batch, *operand, 0, stride);
    set(row, *operand, 1, stride);
    set(column, *operand, 2, stride);
  }
  indices[0].strideRows = q.shape[1];
  indices[1].strideRows = 1;
  return indices;
}

void PlanBuilder::attention(int32_t program, int32_t stream, Operand q,
                            Operand k, Operand v, Operand out,
                            Operand logsumexp, double scale, bool isCausal) {
  AttentionShape shape;
  shape.dtype = q.dtype;
  shape.accumulate = logsumexp.dtype;
  shape.indices = attentionIndices(q, k, v, out);
  shape.scale = scale;
  shape.isCausal = isCausal;
  Library library;
  library.descriptor = std::move(shape);
  library.operands = {std::move(q), std::move(k), std::move(v), std::move(out),
                      std::move(logsumexp)};
  library.access = {Access::read, Access::read, Access::read, Access::write,
                    Access::write};
  emit(program, stream, std::move(library));
}

void PlanBuilder::place() {
  plan_.arenas.assign(plan_.mesh.numStages(), 0);
  for (Frame &frame : plan_.frames) {
    frame.size = roundUp(frame.size);
    // One offset serves all stages that have the frame.
    frame.offset = 0;
    for (size_t s = 0; s < plan_.arenas.size(); ++s) {
      if (hasStage(frame.stages, s)) {
        frame.offset = std::max(frame.offset, plan_.arenas[s]);
      }
    }
    for (size_t s = 0; s < plan_.arenas.size(); ++s) {
      if (hasStage(frame.stages, s)) {
        plan_.arenas[s] = frame.offset + frame.size * frame.slots;
      }
    }
  }
}

} // namespace llmc::rt::plan

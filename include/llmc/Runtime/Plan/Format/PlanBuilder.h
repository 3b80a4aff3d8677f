//===- PlanBuilder.h - Plans by hand ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills a Plan without a compiler: allots buffers within frames and frames
// within the arena, and shares equal expression nodes.
//
//   PlanBuilder b(mesh);
//   int32_t c = b.addStream("C", StreamKind::compute);
//   int32_t tmp = b.addFrame("tmp", FrameKind::tmp);
//   int32_t x = b.addBuffer(tmp, "x", DType::f32, {4, 6});
//   int32_t f = b.addProgram("c0.F", Phase::forward, 0);
//   b.kernel(f, c, k, {{b.view(x), Access::write}});
//   b.place();                       // offsets and arenas
//   Plan plan = b.take();
//
// Test: test/Runtime/Plan/Format/PlanBuilderTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_PLANBUILDER_H
#define LLMC_RUNTIME_PLAN_FORMAT_PLANBUILDER_H

#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string>
#include <utility>
#include <vector>

namespace llmc::rt::plan {

class PlanBuilder {
public:
  explicit PlanBuilder(Mesh mesh);

  Plan &plan() { return plan_; }

  // Expressions.
  ExprId constant(int64_t value);
  ExprId coordinate(int32_t axis);
  ExprId microbatch();
  ExprId binary(ExprOp op, ExprId lhs, ExprId rhs);
  ExprId times(int64_t factor, ExprId e) {
    return binary(ExprOp::mul, constant(factor), e);
  }

  // Tables; each returns an index.
  int32_t addStream(std::string name, StreamKind kind, int32_t priority = 0);
  int32_t addFrame(std::string name, FrameKind kind, int32_t slots = 1,
                   ExprId slot = noExpr, std::vector<int32_t> stages = {});
  /// After the buffers that the frame already has.
  int32_t addBuffer(int32_t frame, std::string name, DType dtype,
                    std::vector<int64_t> shape);
  /// At a byte offset of the frame (to share bytes with other buffers).
  int32_t addBufferAt(int32_t frame, int64_t offset, std::string name,
                      DType dtype, std::vector<int64_t> shape);
  /// A new event of the frame; 0 is `free` and always there.
  EventRef addEvent(int32_t frame);
  int32_t addSymbol(std::string name);
  int32_t addTransfer(std::string name);
  int32_t addKernel(std::string name, int32_t object = 0);
  int32_t addProgram(std::string name, Phase phase, int32_t chunk = -1);

  /// The whole buffer, with the type and shape it was added with.
  Operand view(int32_t buffer) const;
  /// A part of it: byte offset, shape, strides in elements.
  Operand view(int32_t buffer, int64_t offset, std::vector<int64_t> shape,
               std::vector<int64_t> strides = {}, ExprId expr = noExpr) const;

  // Instructions, at the end of a program.
  using Use = std::pair<Operand, Access>;
  void kernel(int32_t program, int32_t stream, int32_t kernel,
              std::vector<Use> operands, std::vector<ExprId> scalars = {});
  void emit(int32_t program, int32_t stream, Action action);
  void signal(int32_t program, int32_t stream, EventRef event);
  void wait(int32_t program, int32_t stream, EventRef event);
  /// c (m x n) = a (m x k) * b (k x n) + beta * c, all contiguous or with the
  /// strides of their operands (transposed views included).
  void matmul(int32_t program, int32_t stream, Operand a, Operand b, Operand c,
              double beta = 0);
  /// out [b, m, e] and logsumexp [b, m] of q [b, m, d], k [b, n, d] and
  /// v [b, n, e], with the strides of their operands; logsumexp is contiguous.
  void attention(int32_t program, int32_t stream, Operand q, Operand k,
                 Operand v, Operand out, Operand logsumexp, double scale,
                 bool isCausal = false);

  /// Rounds up the sizes of frames and gives each a place, in order, on every
  /// stage that has it; sets the arenas.
  void place();

  Plan take() { return std::move(plan_); }

private:
  Plan plan_;
  std::vector<std::pair<DType, std::vector<int64_t>>> bufferTypes_;
};

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_PLANBUILDER_H

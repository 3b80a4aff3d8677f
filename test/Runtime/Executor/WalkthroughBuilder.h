//===- WalkthroughBuilder.h - Writes the walkthrough's plan -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// WalkthroughPlan.cpp has frames, states, entry and the calls that instructions
// are written with; WalkthroughPrograms.cpp has the programs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHBUILDER_H
#define LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHBUILDER_H

#include "WalkthroughPlan.h"

#include "WalkthroughKernels.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

namespace llmc::rt::test {

using namespace plan;

/// More than the library wants for any of these contractions.
constexpr int64_t mostScratch = 64 * 1024;
constexpr int32_t pipe = 0, data = 1, tensor = 2;
constexpr Access r = Access::read, w = Access::write, rw = Access::readWrite;

inline Mesh makeMesh() {
  return {{{"pipe", 2}, {"data", 2}, {"tensor", 2}}, pipe};
}

/// The workspace that the library of the target "cpu" wants.
int64_t workspaceOf(const LibraryDescriptor &descriptor, int threads);

class Walkthrough {
public:
  Walkthrough(int microbatches, int threads)
      : m(microbatches), threads(threads), b(makeMesh()),
        odd(b.binary(ExprOp::mod, b.microbatch(), b.constant(2))),
        vocabularyOffset(b.times(localVocabulary, b.coordinate(tensor))) {}

  Plan make(const std::string &object);

private:
  void makeStreams();
  void makeFrames();
  void makeStates();
  void makeForward0();
  void makeForward1();
  void makeBackward1();
  void makeBackward0();
  void makePrologue();
  void makeUpdate(int stage);
  void makeEntry();

  int32_t kernel(const char *name);
  void launch(int32_t program, const char *name,
              std::vector<PlanBuilder::Use> uses,
              std::vector<ExprId> scalars = {});
  void matmul(int32_t program, Operand a, Operand c, Operand d,
              double beta = 0);
  void collective(int32_t program, int32_t stream, CollectiveKind kind,
                  const char *symbol, std::vector<int32_t> axes,
                  std::vector<Operand> ins, std::vector<Operand> outs,
                  ReductionKind reduction = ReductionKind::sum);
  void message(int32_t program, bool send, int32_t transfer, int32_t stage,
               int32_t buffer);
  void host(int32_t program, HostEnd end, int32_t index, int32_t buffer);
  void state(const char *name, std::vector<int64_t> shape, StateRole role,
             const char *of, Draw draw, std::vector<StatePart> parts);
  Operand v(int32_t buffer) const { return b.view(buffer); }
  /// A matrix seen the other way round.
  Operand transposed(int32_t buffer) const;

  const int m, threads;
  PlanBuilder b;
  const ExprId odd, vocabularyOffset;

  int32_t C, K, T, D, G, S, R;
  // States.
  int32_t E, Em, Ev, W1, W1m, W1v, W2, W2m, W2v;
  // Hyper values, sums and gradients.
  int32_t hyper, lr, t, step, gE, ls, count, n2, loss, norm;
  int32_t step0, gW1, gW2, gW1s;
  // Activations, boundaries, inputs, temporaries.
  int32_t act0, x0, tok, act1, x1, lg, lse, tgt;
  int32_t out0, x1s, in1, x1r, out1, dx1s, in0, dx1r, host0, hostTok, host1,
      hostTgt;
  int32_t tmp0, x0p, abc, h, babc, bh, dh, s, dx1, tmp1, mx, se, pick, dlg,
      dx1p, scratch;
  int32_t t0, t1;
  int32_t f0, f1, b0, b1, prologue0, prologue1, u[2];
};

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHBUILDER_H

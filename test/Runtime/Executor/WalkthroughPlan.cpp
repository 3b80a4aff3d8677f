//===- WalkthroughPlan.cpp - The walkthrough's plan, by hand --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases 7 and 8 of docs/walkthrough.md as calls of PlanBuilder. Streams: C
// compute, K copy, T {tensor}, D {data}, G {pipe, data} and all, S send, R
// receive. Waits are reduced: each one is needed.
//
//   c0.F  K tok   C embed  T all_reduce  C block, x1p  T reduce_scatter  S send
//   c1.F  K tgt   R receive  T all_gather  C logits  T max  C exp  T sum  C lse
//   c1.B  C dlg, dx1p  T reduce_scatter  S send      (C gE meanwhile)
//   c0.B  R receive  (C block again)  T all_gather  C gW2, gW1, s
//         T all_reduce  C gE
//   U     D gW1, gW2   G gE, loss   C squares  G squares  C AdamW  D W1
//
//===----------------------------------------------------------------------===//

#include "WalkthroughPlan.h"

#include "WalkthroughKernels.h"
#include "llmc/Runtime/Backends/Cpu/Scratch.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Plan/PlanBuilder.h"

namespace llmc::rt::test {

using namespace plan;

namespace {

/// More than the library wants for any of these contractions.
constexpr int64_t mostScratch = 64 * 1024;
constexpr int32_t pipe = 0, data = 1, tensor = 2;
constexpr Access r = Access::read, w = Access::write, rw = Access::readWrite;

Mesh makeMesh() { return {{{"pipe", 2}, {"data", 2}, {"tensor", 2}}, pipe}; }

class Walkthrough {
public:
  explicit Walkthrough(int microbatches)
      : m(microbatches), b(makeMesh()),
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
                  Reduction reduction = Reduction::sum);
  void message(int32_t program, bool send, int32_t transfer, int32_t stage,
               int32_t buffer);
  void host(int32_t program, HostEnd end, int32_t index, int32_t buffer);
  void state(const char *name, std::vector<int64_t> shape, StateRole role,
             const char *of, Draw draw, std::vector<StatePart> parts);
  Operand v(int32_t buffer) const { return b.view(buffer); }
  /// A matrix seen the other way round.
  Operand transposed(int32_t buffer) const;

  const int m;
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

int32_t Walkthrough::kernel(const char *name) {
  for (size_t i = 0; i < b.plan().kernels.size(); ++i) {
    if (b.plan().kernels[i].name == name) {
      return static_cast<int32_t>(i);
    }
  }
  return b.addKernel(name);
}

void Walkthrough::launch(int32_t program, const char *name,
                         std::vector<PlanBuilder::Use> uses,
                         std::vector<ExprId> scalars) {
  b.kernel(program, C, kernel(name), std::move(uses), std::move(scalars));
}

/// The scratch that the library wants for a contraction.
int64_t scratchOf(const Contraction &contraction) {
  ContractionShape shape;
  for (const ContractionDim &dim : contraction.dims) {
    shape.indices.push_back({static_cast<ContractionIndexKind>(dim.kind),
                             dim.size, dim.strideA, dim.strideB, dim.strideC});
  }
  shape.addToResult = contraction.beta == 1;
  return static_cast<int64_t>(
      cpuContractionScratch(shape).ok() ? *cpuContractionScratch(shape) : 0);
}

/// d = a c (+ d)
void Walkthrough::matmul(int32_t program, Operand a, Operand c, Operand d,
                         double beta) {
  b.matmul(program, C, std::move(a), std::move(c), std::move(d), beta);
  auto &contraction = std::get<Contraction>(
      b.plan().programs[program].instructions.back().action);
  contraction.scratchBytes = scratchOf(contraction);
  if (contraction.scratchBytes > 0) {
    contraction.scratch = b.view(scratch, 0, {contraction.scratchBytes});
  }
}

void Walkthrough::collective(int32_t program, int32_t stream,
                             CollectiveKind kind, const char *symbol,
                             std::vector<int32_t> axes,
                             std::vector<Operand> ins,
                             std::vector<Operand> outs, Reduction reduction) {
  std::vector<std::string> &symbols = b.plan().symbols;
  plan::Collective action;
  action.symbol = -1;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i] == symbol) {
      action.symbol = static_cast<int32_t>(i);
    }
  }
  if (action.symbol < 0) {
    action.symbol = b.addSymbol(symbol);
  }
  action.kind = kind;
  action.axes = std::move(axes);
  action.reduction = reduction;
  action.inputs = std::move(ins);
  action.outputs = std::move(outs);
  b.emit(program, stream, std::move(action));
}

void Walkthrough::message(int32_t program, bool send, int32_t transfer,
                          int32_t stage, int32_t buffer) {
  Message message{transfer, b.constant(stage), {v(buffer)}};
  if (send) {
    b.emit(program, S, Send{std::move(message)});
  } else {
    b.emit(program, R, Receive{std::move(message)});
  }
}

void Walkthrough::host(int32_t program, HostEnd end, int32_t index,
                       int32_t buffer) {
  Copy copy;
  copy.host = end;
  copy.index = index;
  bool fromDevice = end == HostEnd::metric || end == HostEnd::fetch;
  (fromDevice ? copy.from : copy.to) = v(buffer);
  b.emit(program, K, std::move(copy));
}

Operand Walkthrough::transposed(int32_t buffer) const {
  Operand operand = v(buffer);
  int64_t rows = operand.shape[0], columns = operand.shape[1];
  operand.shape = {columns, rows};
  operand.strides = {1, columns};
  return operand;
}

void Walkthrough::makeStreams() {
  C = b.addStream("C", StreamKind::compute);
  K = b.addStream("K", StreamKind::copy);
  T = b.addStream("T", StreamKind::collective, 1);
  D = b.addStream("D", StreamKind::collective, 1);
  G = b.addStream("G", StreamKind::collective, 1);
  S = b.addStream("S", StreamKind::send, 1);
  R = b.addStream("R", StreamKind::receive, 1);
  t0 = b.addTransfer("t0");
  t1 = b.addTransfer("t1");
}

void Walkthrough::makeFrames() {
  const DType F = DType::f32, I = DType::i32;
  const std::vector<int32_t> first = {0}, second = {1};
  int32_t states = b.addFrame("state", FrameKind::state);
  E = b.addBuffer(states, "E", F, {5, 4});
  Em = b.addBuffer(states, "E.m", F, {5, 4});
  Ev = b.addBuffer(states, "E.v", F, {5, 4});
  int32_t states0 = b.addFrame("state0", FrameKind::state, 1, noExpr, first);
  W1 = b.addBuffer(states0, "W1", F, {4, 6});
  W1m = b.addBuffer(states0, "W1.m", F, {2, 6});
  W1v = b.addBuffer(states0, "W1.v", F, {2, 6});
  W2 = b.addBuffer(states0, "W2", F, {2, 4});
  W2m = b.addBuffer(states0, "W2.m", F, {2, 4});
  W2v = b.addBuffer(states0, "W2.v", F, {2, 4});

  hyper = b.addFrame("hyper", FrameKind::hyper);
  lr = b.addBuffer(hyper, "lr", F, {});
  t = b.addBuffer(hyper, "t", I, {});
  step = b.addFrame("step", FrameKind::step);
  gE = b.addBuffer(step, "gE", F, {5, 4});
  ls = b.addBuffer(step, "loss_sum", F, {});
  count = b.addBuffer(step, "count", F, {});
  n2 = b.addBuffer(step, "squares", F, {});
  loss = b.addBuffer(step, "loss", F, {});
  norm = b.addBuffer(step, "grad_norm", F, {});
  step0 = b.addFrame("step0", FrameKind::step, 1, noExpr, first);
  gW1 = b.addBuffer(step0, "gW1", F, {4, 6});
  gW2 = b.addBuffer(step0, "gW2", F, {2, 4});
  gW1s = b.addBuffer(step0, "gW1.rows", F, {2, 6});

  act0 = b.addFrame("act0", FrameKind::act, 2, odd, first);
  x0 = b.addBuffer(act0, "x0", F, {4, 4});
  tok = b.addBuffer(act0, "tok", I, {4});
  b.plan().frames[act0].chunk = 0;
  act1 = b.addFrame("act1", FrameKind::act, 1, noExpr, second);
  x1 = b.addBuffer(act1, "x1", F, {4, 4});
  lg = b.addBuffer(act1, "lg", F, {4, 5});
  lse = b.addBuffer(act1, "lse", F, {4});
  tgt = b.addBuffer(act1, "tgt", I, {4});
  b.plan().frames[act1].chunk = 1;

  out0 = b.addFrame("t0.out", FrameKind::bnd, 2, odd, first);
  x1s = b.addBuffer(out0, "x1s", F, {2, 4});
  in1 = b.addFrame("t0.in", FrameKind::bnd, 2, odd, second);
  x1r = b.addBuffer(in1, "x1r", F, {2, 4});
  out1 = b.addFrame("t1.out", FrameKind::bnd, 2, odd, second);
  dx1s = b.addBuffer(out1, "dx1s", F, {2, 4});
  in0 = b.addFrame("t1.in", FrameKind::bnd, 2, odd, first);
  dx1r = b.addBuffer(in0, "dx1r", F, {2, 4});
  host0 = b.addFrame("input0", FrameKind::input, 2, odd, first);
  hostTok = b.addBuffer(host0, "tok", I, {4});
  host1 = b.addFrame("input1", FrameKind::input, 2, odd, second);
  hostTgt = b.addBuffer(host1, "tgt", I, {4});

  // Forward and backward share bytes; s lies over h and dh, which are dead.
  tmp0 = b.addFrame("tmp0", FrameKind::tmp, 1, noExpr, first);
  x0p = b.addBufferAt(tmp0, 0, "x0p", F, {4, 4});
  abc = b.addBufferAt(tmp0, 64, "abc", F, {4, 6});
  h = b.addBufferAt(tmp0, 160, "h", F, {4, 2});
  babc = b.addBufferAt(tmp0, 0, "abc'", F, {4, 6});
  bh = b.addBufferAt(tmp0, 96, "h'", F, {4, 2});
  dh = b.addBufferAt(tmp0, 128, "dh", F, {4, 2});
  s = b.addBufferAt(tmp0, 96, "s", F, {4, 4});
  dx1 = b.addBufferAt(tmp0, 192, "dx1", F, {4, 4});
  int32_t library = b.addFrame("scratch", FrameKind::scratch);
  scratch = b.addBuffer(library, "library", DType::u8, {mostScratch});
  tmp1 = b.addFrame("tmp1", FrameKind::tmp, 1, noExpr, second);
  mx = b.addBufferAt(tmp1, 0, "max", F, {4});
  se = b.addBufferAt(tmp1, 16, "expsum", F, {4});
  pick = b.addBufferAt(tmp1, 32, "pick", F, {4});
  dlg = b.addBufferAt(tmp1, 64, "dlg", F, {4, 5});
  dx1p = b.addBufferAt(tmp1, 144, "dx1p", F, {4, 4});
}

void Walkthrough::state(const char *name, std::vector<int64_t> shape,
                        StateRole role, const char *of, Draw draw,
                        std::vector<StatePart> parts) {
  State state;
  state.name = name;
  state.shape = std::move(shape);
  state.role = role;
  state.of = of;
  state.source.draw = draw;
  state.parts = std::move(parts);
  b.plan().states.push_back(std::move(state));
}

void Walkthrough::makeStates() {
  const Mesh &mesh = b.plan().mesh;
  const Draw normal{DrawKind::normal, 0, 0.5}, zeros{};
  auto rows = [&](std::vector<int64_t> shape, int32_t buffer,
                  std::vector<int32_t> stages) {
    return StatePart{{0, 0},
                     Layout::split(shape, {{tensor}, {}}, mesh),
                     std::move(stages),
                     v(buffer)};
  };
  // Columns [0, 4) [4, 8) [8, 12) of W1, side by side in the local buffer.
  auto columns = [&](int32_t buffer, bool byData) {
    std::vector<StatePart> parts;
    for (int64_t part = 0; part < 3; ++part) {
      std::vector<int32_t> first;
      if (byData) {
        first = {data};
      }
      Layout layout = Layout::split({4, 4}, {first, {tensor}}, mesh);
      Operand place = b.view(buffer, part * 8, {byData ? 2 : 4, 2}, {6, 1});
      parts.push_back({{0, part * 4}, layout, {0}, place});
    }
    return parts;
  };
  const StateRole optimizer = StateRole::optimizer;
  const StateRole parameter = StateRole::parameter;
  state("E", {10, 4}, parameter, "", normal, {rows({10, 4}, E, {})});
  state("E.m", {10, 4}, optimizer, "E", zeros, {rows({10, 4}, Em, {})});
  state("E.v", {10, 4}, optimizer, "E", zeros, {rows({10, 4}, Ev, {})});
  state("W1", {4, 12}, parameter, "", normal, columns(W1, false));
  state("W1.m", {4, 12}, optimizer, "W1", zeros, columns(W1m, true));
  state("W1.v", {4, 12}, optimizer, "W1", zeros, columns(W1v, true));
  state("W2", {4, 4}, parameter, "", normal, {rows({4, 4}, W2, {0})});
  state("W2.m", {4, 4}, optimizer, "W2", zeros, {rows({4, 4}, W2m, {0})});
  state("W2.v", {4, 4}, optimizer, "W2", zeros, {rows({4, 4}, W2v, {0})});
}

void Walkthrough::makeForward0() {
  f0 = b.addProgram("train.c0.F", Phase::forward, 0);
  EventRef hasTok = b.addEvent(act0), hasX0p = b.addEvent(act0),
           hasX0 = b.addEvent(act0), hasX1p = b.addEvent(act0),
           hasX1s = b.addEvent(out0);
  // With two microbatches each has a slot of its own.
  if (m > 2) {
    b.wait(f0, K, {act0, 0});
  }
  host(f0, HostEnd::input, 0, hostTok);
  Copy copy;
  copy.to = v(tok);
  copy.from = v(hostTok);
  b.emit(f0, K, copy);
  b.signal(f0, K, hasTok);
  b.wait(f0, C, hasTok);
  launch(f0, "k_embed", {{v(tok), r}, {v(E), r}, {v(x0p), w}},
         {vocabularyOffset});
  b.signal(f0, C, hasX0p);
  b.wait(f0, T, hasX0p);
  collective(f0, T, CollectiveKind::allReduce, "x0", {tensor}, {v(x0p)},
             {v(x0)});
  b.signal(f0, T, hasX0);
  b.wait(f0, C, hasX0);
  matmul(f0, v(x0), v(W1), v(abc));
  launch(f0, "k_h", {{v(abc), r}, {v(h), w}});
  matmul(f0, v(h), v(W2), v(x0p), 1);
  b.signal(f0, C, hasX1p);
  b.wait(f0, T, hasX1p);
  if (m > 2) {
    b.wait(f0, T, {out0, 0});
  }
  collective(f0, T, CollectiveKind::reduceScatter, "x1", {tensor}, {v(x0p)},
             {v(x1s)});
  b.signal(f0, T, hasX1s);
  b.wait(f0, S, hasX1s);
  message(f0, true, t0, 1, x1s);
  if (m > 2) {
    b.signal(f0, S, {out0, 0});
  }
  b.wait(f0, C, hasX1s); // Closes tmp0.
}

void Walkthrough::makeForward1() {
  f1 = b.addProgram("train.c1.F", Phase::forward, 1);
  EventRef hasTgt = b.addEvent(act1), received = b.addEvent(in1),
           hasX1 = b.addEvent(act1), hasMax = b.addEvent(act1),
           hasGreatest = b.addEvent(act1), hasSums = b.addEvent(act1),
           hasTotals = b.addEvent(act1);
  b.wait(f1, K, {act1, 0});
  host(f1, HostEnd::input, 1, hostTgt);
  Copy copy;
  copy.to = v(tgt);
  copy.from = v(hostTgt);
  b.emit(f1, K, copy);
  b.signal(f1, K, hasTgt);
  if (m > 2) {
    b.wait(f1, R, {in1, 0});
  }
  message(f1, false, t0, 0, x1r);
  b.signal(f1, R, received);
  b.wait(f1, T, received);
  b.wait(f1, T, {act1, 0});
  collective(f1, T, CollectiveKind::allGather, "x1g", {tensor}, {v(x1r)},
             {v(x1)});
  b.signal(f1, T, hasX1);
  if (m > 2) {
    b.signal(f1, T, {in1, 0});
  }
  b.wait(f1, C, hasX1);
  matmul(f1, v(x1), transposed(E), v(lg));
  launch(f1, "k_rowmax", {{v(lg), r}, {v(mx), w}});
  b.signal(f1, C, hasMax);
  b.wait(f1, T, hasMax);
  collective(f1, T, CollectiveKind::allReduce, "max", {tensor}, {v(mx)},
             {v(mx)}, Reduction::max);
  b.signal(f1, T, hasGreatest);
  b.wait(f1, C, hasGreatest);
  b.wait(f1, C, hasTgt);
  launch(f1, "k_expsum",
         {{v(lg), r}, {v(mx), r}, {v(tgt), r}, {v(se), w}, {v(pick), w}},
         {vocabularyOffset});
  b.signal(f1, C, hasSums);
  b.wait(f1, T, hasSums);
  collective(f1, T, CollectiveKind::allReduce, "sums", {tensor},
             {v(se), v(pick)}, {v(se), v(pick)});
  b.signal(f1, T, hasTotals);
  b.wait(f1, C, hasTotals);
  launch(f1, "k_lse",
         {{v(se), r},
          {v(mx), r},
          {v(pick), r},
          {v(lse), w},
          {v(ls), rw},
          {v(count), rw}});
}

void Walkthrough::makeBackward1() {
  b1 = b.addProgram("train.c1.B", Phase::backward, 1);
  EventRef hasDx1p = b.addEvent(act1), hasDx1s = b.addEvent(out1);
  launch(b1, "k_dlg", {{v(lg), r}, {v(lse), r}, {v(tgt), r}, {v(dlg), w}},
         {vocabularyOffset});
  matmul(b1, v(dlg), v(E), v(dx1p));
  b.signal(b1, C, hasDx1p);
  matmul(b1, transposed(dlg), v(x1), v(gE), 1);
  b.signal(b1, C, {act1, 0});
  b.wait(b1, T, hasDx1p);
  if (m > 2) {
    b.wait(b1, T, {out1, 0});
  }
  collective(b1, T, CollectiveKind::reduceScatter, "dx1", {tensor}, {v(dx1p)},
             {v(dx1s)});
  b.signal(b1, T, hasDx1s);
  b.wait(b1, S, hasDx1s);
  message(b1, true, t1, 0, dx1s);
  if (m > 2) {
    b.signal(b1, S, {out1, 0});
  }
}

void Walkthrough::makeBackward0() {
  b0 = b.addProgram("train.c0.B", Phase::backward, 0);
  EventRef received = b.addEvent(in0), ready = b.addEvent(act0),
           hasDx1 = b.addEvent(act0), hasS = b.addEvent(act0),
           hasSum = b.addEvent(act0);
  if (m > 2) {
    b.wait(b0, R, {in0, 0});
  }
  message(b0, false, t1, 1, dx1r);
  b.signal(b0, R, received);
  matmul(b0, v(x0), v(W1), v(babc)); // Again, while the gradient travels.
  launch(b0, "k_h", {{v(babc), r}, {v(bh), w}});
  b.signal(b0, C, ready);
  b.wait(b0, T, received);
  b.wait(b0, T, ready);
  collective(b0, T, CollectiveKind::allGather, "dx1g", {tensor}, {v(dx1r)},
             {v(dx1)});
  b.signal(b0, T, hasDx1);
  if (m > 2) {
    b.signal(b0, T, {in0, 0});
  }
  b.wait(b0, C, hasDx1);
  matmul(b0, v(dx1), transposed(W2), v(dh));
  matmul(b0, transposed(bh), v(dx1), v(gW2), 1);
  launch(b0, "k_dabc", {{v(dh), r}, {v(babc), rw}});
  matmul(b0, transposed(x0), v(babc), v(gW1), 1);
  matmul(b0, v(babc), transposed(W1), v(s));
  b.signal(b0, C, hasS);
  b.wait(b0, T, hasS);
  collective(b0, T, CollectiveKind::allReduce, "s", {tensor}, {v(s)}, {v(s)});
  b.signal(b0, T, hasSum);
  b.wait(b0, C, hasSum);
  launch(b0, "k_emb_bwd", {{v(tok), r}, {v(dx1), r}, {v(s), r}, {v(gE), rw}},
         {vocabularyOffset});
  if (m > 2) {
    b.signal(b0, C, {act0, 0});
  }
}

void Walkthrough::makePrologue() {
  for (int stage : {0, 1}) {
    int32_t &program = stage ? prologue1 : prologue0;
    program = b.addProgram(stage ? "train.p1" : "train.p0", Phase::other);
    host(program, HostEnd::hyper, 0, lr);
    host(program, HostEnd::hyper, 1, t);
    for (int32_t sum : {gE, ls, count}) {
      b.emit(program, C, Fill{v(sum), 0});
    }
    if (stage == 0) {
      b.emit(program, C, Fill{v(gW1), 0});
      b.emit(program, C, Fill{v(gW2), 0});
    }
  }
}

void Walkthrough::makeUpdate(int stage) {
  int32_t p = u[stage] =
      b.addProgram(stage ? "train.u1" : "train.u0", Phase::update);
  int32_t home = stage ? step : step0;
  EventRef hasGradients = b.addEvent(step), hasData = b.addEvent(home),
           hasSums = b.addEvent(step), hasSquares = b.addEvent(step),
           hasNorm = b.addEvent(step), updated = b.addEvent(step);
  b.signal(p, C, hasGradients);
  if (stage == 0) {
    b.wait(p, D, hasGradients);
    collective(p, D, CollectiveKind::reduceScatter, "gW1", {data}, {v(gW1)},
               {v(gW1s)});
    collective(p, D, CollectiveKind::allReduce, "gW2", {data}, {v(gW2)},
               {v(gW2)});
    b.signal(p, D, hasData);
  }
  b.wait(p, G, hasGradients);
  collective(p, G, CollectiveKind::allReduce, "gE", {pipe, data}, {v(gE)},
             {v(gE)});
  collective(p, G, CollectiveKind::allReduce, "ls", {pipe, data},
             {v(ls), v(count)}, {v(ls), v(count)});
  if (stage == 0) {
    b.signal(p, G, hasSums);
    b.wait(p, C, hasSums);
    // E is counted at data = 0 (and on this stage only), W2 at data = 0.
    ExprId keep = b.binary(ExprOp::equal, b.coordinate(data), b.constant(0));
    b.wait(p, C, hasData);
    launch(p, "k_sumsq",
           {{v(gE), r}, {v(gW1s), r}, {v(gW2), r}, {v(count), r}, {v(n2), w}},
           {keep, keep});
  } else {
    b.emit(p, C, Fill{v(n2), 0});
  }
  b.signal(p, C, hasSquares);
  b.wait(p, G, hasSquares);
  collective(p, G, CollectiveKind::allReduce, "n2", {pipe, data, tensor},
             {v(n2)}, {v(n2)});
  b.signal(p, G, hasNorm);
  b.wait(p, C, hasNorm);
  auto adamw = [&](const char *name, int32_t g, Operand p0, int32_t m0,
                   int32_t v0) {
    launch(p, name,
           {{v(g), r},
            {v(n2), r},
            {v(count), r},
            {v(lr), r},
            {v(t), r},
            {std::move(p0), rw},
            {v(m0), rw},
            {v(v0), rw}});
  };
  adamw("k_adamw_20", gE, v(E), Em, Ev);
  // This device's rows of W1.
  Operand rows = b.view(W1, 0, {2, 6}, {}, b.times(48, b.coordinate(data)));
  if (stage == 0) {
    adamw("k_adamw_8", gW2, v(W2), W2m, W2v);
    adamw("k_adamw_12", gW1s, rows, W1m, W1v);
  }
  launch(p, "k_final",
         {{v(ls), r}, {v(count), r}, {v(n2), r}, {v(loss), w}, {v(norm), w}});
  b.signal(p, C, updated);
  if (stage == 0) {
    b.wait(p, D, updated);
    collective(p, D, CollectiveKind::allGather, "W1", {data}, {rows}, {v(W1)});
  }
  b.wait(p, K, updated);
  host(p, HostEnd::metric, 0, loss);
  host(p, HostEnd::metric, 1, norm);
  host(p, HostEnd::metric, 2, lr);
}

void Walkthrough::makeEntry() {
  const Mesh &mesh = b.plan().mesh;
  plan::Entry entry;
  entry.name = "train";
  entry.numMicrobatches = m;
  entry.numChunks = 2;
  entry.prologue = {prologue0, prologue1};
  entry.epilogue = {u[0], u[1]};
  // 1F1B: one forward ahead on stage 0, none on stage 1.
  //   stage 0  F0 F1 .  B0 F2 ...      stage 1  .  F0 B0 F1 B1 ...
  auto row = [&](Cell first, Cell second) {
    entry.table.push_back(first);
    entry.table.push_back(second);
  };
  const Cell idle;
  row({f0, 0}, idle);
  row(m > 1 ? Cell{f0, 1} : idle, {f1, 0});
  for (int i = 0; i < m; ++i) {
    row(idle, {b1, i});
    row({b0, i}, i + 1 < m ? Cell{f1, i + 1} : idle);
    if (i + 2 < m) {
      row({f0, i + 2}, idle);
    }
  }
  Layout samples = Layout::split({batch}, {{data}}, mesh);
  entry.inputs = {{"tokens", DType::i32, samples, {0}, 0},
                  {"targets", DType::i32, samples, {1}, 1}};
  HyperRule schedule{HyperKind::warmupCosine, learningRate, learningRate / 10,
                     4, 20};
  entry.hypers = {{"lr", DType::f32, schedule},
                  {"t", DType::i32, {HyperKind::step, 1, 0, 0, 0}}};
  entry.metrics = {
      {"loss", DType::f32}, {"grad_norm", DType::f32}, {"lr", DType::f32}};
  b.plan().entries = {std::move(entry)};
}

Plan Walkthrough::make(const std::string &object) {
  makeStreams();
  makeFrames();
  makeStates();
  makeForward0();
  makeForward1();
  makeBackward1();
  makeBackward0();
  makePrologue();
  makeUpdate(0);
  makeUpdate(1);
  makeEntry();
  b.place();
  b.plan().name = "walkthrough";
  b.plan().producer = "by hand";
  b.plan().seed = 7;
  size_t slash = object.rfind('/');
  Result<MappedFile> file = MappedFile::open(object);
  b.plan().objects = {{object.substr(slash + 1),
                       file ? hash64(file->data(), file->size()) : 0,
                       {}}};
  return b.take();
}

} // namespace

plan::Plan makeWalkthroughPlan(int microbatches, const std::string &object) {
  return Walkthrough(microbatches).make(object);
}

} // namespace llmc::rt::test

//===- WalkthroughPlan.cpp - The walkthrough's plan, by hand --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What docs/walkthrough.md compiles, as calls of PlanBuilder: a test of the
// runtime that needs no compiler; the page says where the two differ. Streams:
// C compute, K copy, T {tensor}, D {data}, G {pipe, data} and all, S send, R
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

#include "WalkthroughBuilder.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Comm/Backend.h"

namespace llmc::rt::test {

int64_t workspaceOf(const LibraryDescriptor &descriptor, int threads) {
  Result<const Backend *> backend = findBackend("cpu");
  if (!backend.ok()) {
    return 0;
  }
  Result<uint64_t> bytes =
      (*backend)->libraryWorkspace({"matmul", descriptor, threads, 0});
  return bytes.ok() ? static_cast<int64_t>(*bytes) : 0;
}

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

/// d = a c (+ d)
void Walkthrough::matmul(int32_t program, Operand a, Operand c, Operand d,
                         double beta) {
  b.matmul(program, C, std::move(a), std::move(c), std::move(d), beta);
  auto &library =
      std::get<Library>(b.plan().programs[program].instructions.back().action);
  library.workspaceBytes = workspaceOf(library.descriptor, threads);
  if (library.workspaceBytes > 0) {
    library.workspace = b.view(scratch, 0, {library.workspaceBytes});
  }
}

void Walkthrough::collective(int32_t program, int32_t stream,
                             CollectiveKind kind, const char *symbol,
                             std::vector<int32_t> axes,
                             std::vector<Operand> ins,
                             std::vector<Operand> outs,
                             ReductionKind reduction) {
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
  entry.inputs = {{"tokens", DType::i32, samples, {0}, 0, 0},
                  {"targets", DType::i32, samples, {1}, 0, 1}};
  HyperRule schedule{HyperKind::warmupCosine, learningRate, learningRate / 10,
                     4, 20};
  entry.hypers = {{"lr", DType::f32, schedule},
                  {"t", DType::i32, {HyperKind::step, 1, 0, 0, 0}}};
  entry.metrics = {
      {"loss", DType::f32}, {"grad_norm", DType::f32}, {"lr", DType::f32}};
  b.plan().sources = {{"corpus", {DataKind::tokens, DType::u8, true, ""}}};
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
  b.plan().threads = threads;
  size_t slash = object.rfind('/');
  Result<MappedFile> file = MappedFile::open(object);
  b.plan().objects = {{object.substr(slash + 1),
                       file ? hash64(file->data(), file->size()) : 0,
                       {}}};
  return b.take();
}

plan::Plan makeWalkthroughPlan(int microbatches, const std::string &object,
                               int threads) {
  return Walkthrough(microbatches, threads).make(object);
}

} // namespace llmc::rt::test

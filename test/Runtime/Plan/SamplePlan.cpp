//===- SamplePlan.cpp - A small sound plan for tests ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include <cstdlib>

namespace llmc::rt::plan {

namespace {
/// Both stages have frames of the same names and places; each uses its own.
struct Sample {
  PlanBuilder b{Mesh{{{"pipe", 2}, {"data", 2}}, 0}};
  int32_t C, K, D, S, R;
  int32_t state, hyper, step, act, in, x, y, tmp, scratch;
  int32_t w, lr, gw, loss, h, tok, xy, dy, dz, lib;
  int32_t embed, lossKernel, gradKernel, adam;
  EventRef ready, sums, reduced, tokens, xReady, yReady;

  void tables();
  void prologue();
  void firstForward();
  void firstBackward();
  void lastForward();
  void lastBackward();
  void update();
  void entry();
  Plan make();
};
} // namespace

void Sample::tables() {
  C = b.addStream("C", StreamKind::compute, 1);
  K = b.addStream("K", StreamKind::copy);
  D = b.addStream("D", StreamKind::collective);
  S = b.addStream("S", StreamKind::send);
  R = b.addStream("R", StreamKind::receive);
  // One by one: compilers differ in the order in which they evaluate arguments.
  const ExprId microbatch = b.microbatch();
  const ExprId slot = b.binary(ExprOp::mod, microbatch, b.constant(2));
  state = b.addFrame("state", FrameKind::state);
  hyper = b.addFrame("hyper", FrameKind::hyper);
  step = b.addFrame("step", FrameKind::step);
  act = b.addFrame("act0", FrameKind::act, 2, slot, {0});
  b.plan().frames[act].chunk = 0;
  in = b.addFrame("in", FrameKind::input, 2, slot, {0});
  x = b.addFrame("bnd.t0", FrameKind::bnd, 2, slot);
  y = b.addFrame("bnd.t1", FrameKind::bnd, 2, slot);
  tmp = b.addFrame("tmp", FrameKind::tmp);
  scratch = b.addFrame("scratch", FrameKind::scratch);
  w = b.addBuffer(state, "w", DType::f32, {4, 4});
  lr = b.addBuffer(hyper, "lr", DType::f32, {});
  gw = b.addBuffer(step, "gw", DType::f32, {4, 4});
  loss = b.addBuffer(step, "loss", DType::f32, {});
  h = b.addBuffer(act, "h", DType::f32, {4, 4});
  tok = b.addBuffer(in, "tok", DType::i32, {4});
  xy = b.addBuffer(x, "x", DType::f32, {4, 4});
  dy = b.addBuffer(y, "dy", DType::f32, {4, 4});
  dz = b.addBuffer(tmp, "dz", DType::f32, {4, 4});
  lib = b.addBuffer(scratch, "library", DType::u8, {256});
  ready = b.addEvent(hyper);
  sums = b.addEvent(step);
  reduced = b.addEvent(step);
  tokens = b.addEvent(in);
  xReady = b.addEvent(x);
  yReady = b.addEvent(y);
  b.plan().objects.push_back({"sample.so", 1, {"avx2"}});
  embed = b.addKernel("k_embed");
  lossKernel = b.addKernel("k_loss");
  gradKernel = b.addKernel("k_grad");
  adam = b.addKernel("k_adam");
  b.addSymbol("loss");
  b.addSymbol("grad");
  b.addTransfer("t0");
  b.addTransfer("t1");
}

void Sample::prologue() {
  int32_t p = b.addProgram("begin", Phase::other);
  b.emit(p, K, Copy{b.view(lr), {}, HostEnd::hyper, 0});
  b.signal(p, K, ready);
  b.emit(p, C, Fill{b.view(gw), 0});
  b.emit(p, C, Fill{b.view(loss), 0});
}

void Sample::firstForward() {
  int32_t p = b.addProgram("c0.F", Phase::forward, 0);
  b.wait(p, K, {in, 0});
  b.emit(p, K, Copy{b.view(tok), {}, HostEnd::input, 0});
  b.signal(p, K, tokens);
  b.wait(p, C, tokens);
  b.wait(p, C, {x, 0});
  b.kernel(p, C, embed,
           {{b.view(tok), Access::read},
            {b.view(w), Access::read},
            {b.view(xy), Access::write},
            {b.view(h), Access::write}},
           {b.times(5, b.coordinate(1))});
  b.signal(p, C, xReady);
  b.signal(p, C, {in, 0});
  b.wait(p, S, xReady);
  b.emit(p, S, Send{{0, b.constant(1), {b.view(xy)}}});
  b.signal(p, S, {x, 0});
}

void Sample::firstBackward() {
  int32_t p = b.addProgram("c0.B", Phase::backward, 0);
  b.wait(p, R, {y, 0});
  b.emit(p, R, Receive{{1, b.constant(0), {b.view(dy)}}});
  // The stage of the other end, by arithmetic on our own.
  firstOf<Receive>(b.plan(), "c0.B").message.peer =
      b.binary(ExprOp::add, b.coordinate(0), b.constant(1));
  b.signal(p, R, yReady);
  b.wait(p, C, yReady);
  Operand ht = b.view(h, 0, {4, 4}, {1, 4});
  b.matmul(p, C, ht, b.view(dy), b.view(gw), 1);
  b.signal(p, C, {y, 0});
}

void Sample::lastForward() {
  int32_t p = b.addProgram("c1.F", Phase::forward, 1);
  b.wait(p, R, {x, 0});
  b.emit(p, R, Receive{{0, b.constant(0), {b.view(xy)}}});
  b.signal(p, R, xReady);
  b.wait(p, C, xReady);
  b.kernel(p, C, lossKernel,
           {{b.view(xy), Access::read},
            {b.view(w), Access::read},
            {b.view(loss), Access::readWrite}});
}

void Sample::lastBackward() {
  int32_t p = b.addProgram("c1.B", Phase::backward, 1);
  b.kernel(p, C, gradKernel,
           {{b.view(xy), Access::read}, {b.view(dz), Access::write}});
  Operand xt = b.view(xy, 0, {4, 4}, {1, 4});
  b.matmul(p, C, xt, b.view(dz), b.view(gw), 1);
  b.signal(p, C, {x, 0});
  b.wait(p, C, {y, 0});
  b.matmul(p, C, b.view(dz), b.view(w), b.view(dy));
  b.signal(p, C, yReady);
  b.wait(p, S, yReady);
  b.emit(p, S, Send{{1, b.constant(0), {b.view(dy)}}});
  b.signal(p, S, {y, 0});
  auto &last = b.plan().programs[p].instructions;
  for (Instruction &i : last) {
    if (auto *library = std::get_if<Library>(&i.action)) {
      library->workspaceBytes = 200;
      library->workspace = b.view(lib);
    }
  }
}

void Sample::update() {
  int32_t p = b.addProgram("u", Phase::update);
  b.signal(p, C, sums);
  b.wait(p, D, sums);
  Collective all;
  all.symbol = 0;
  all.axes = {0, 1};
  all.inputs = all.outputs = {b.view(loss)};
  b.emit(p, D, all);
  Collective grad;
  grad.symbol = 1;
  grad.axes = {1};
  grad.inputs = grad.outputs = {b.view(gw)};
  b.emit(p, D, grad);
  b.signal(p, D, reduced);
  b.wait(p, C, ready);
  b.wait(p, C, reduced);
  b.kernel(p, C, adam,
           {{b.view(gw), Access::read},
            {b.view(lr), Access::read},
            {b.view(w), Access::readWrite}});
  b.wait(p, K, reduced);
  b.emit(p, K, Copy{{}, b.view(loss), HostEnd::metric, 0});
}

void Sample::entry() {
  Plan &plan = b.plan();
  Entry entry;
  entry.name = "train";
  entry.numMicrobatches = 3;
  entry.numChunks = 2;
  int32_t begin = findProgram(plan, "begin"), u = findProgram(plan, "u");
  entry.prologue = {begin, begin};
  entry.epilogue = {u, u};
  int32_t f0 = findProgram(plan, "c0.F"), b0 = findProgram(plan, "c0.B");
  int32_t f1 = findProgram(plan, "c1.F"), b1 = findProgram(plan, "c1.B");
  entry.table = {{f0, 0}, {-1, 0}, {f0, 1}, {f1, 0}, {-1, 0}, {b1, 0},
                 {b0, 0}, {f1, 1}, {f0, 2}, {b1, 1}, {b0, 1}, {f1, 2},
                 {-1, 0}, {b1, 2}, {b0, 2}, {-1, 0}};
  entry.inputs = {
      {"tokens", DType::i32, Layout::split({8}, {{1}}, plan.mesh), {0}, 0, 0}};
  plan.sources = {{"corpus", {DataKind::tokens, DType::u8, true, ""}}};
  entry.hypers = {
      {"lr", DType::f32, {HyperKind::warmupCosine, 1e-3, 1e-4, 10, 100}}};
  entry.metrics = {{"loss", DType::f32}};
  plan.entries.push_back(entry);
}

Plan Sample::make() {
  tables();
  prologue();
  firstForward();
  firstBackward();
  lastForward();
  lastBackward();
  update();
  b.place();
  entry();
  Plan &plan = b.plan();
  plan.name = "sample";
  plan.producer = "test";
  plan.locations = {"model.py:3"};
  plan.programs[findProgram(plan, "c0.F")].instructions[5].location = 0;
  for (int32_t stage : {0, 1}) {
    State weight;
    weight.name = stage == 0 ? "embedding" : "head";
    weight.shape = {4, 4};
    weight.source.draw = {DrawKind::normal, 0, 0.02};
    weight.parts = {{{0, 0}, Layout::whole({4, 4}), {stage}, b.view(w)}};
    plan.states.push_back(weight);
  }
  return b.take();
}

Plan makeSamplePlan() { return Sample().make(); }

Manifest makeSampleManifest() {
  auto f32 = [](Access access, int64_t bytes) {
    return KernelArgument{DType::f32, access, bytes};
  };
  Manifest manifest;
  manifest.features = {"avx2"};
  manifest.kernels = {
      {"k_embed",
       {{DType::i32, Access::read, 16},
        f32(Access::read, 64),
        f32(Access::write, 64),
        f32(Access::write, 64)},
       {{0, 5}},
       {},
       4,
       0},
      {"k_loss",
       {f32(Access::read, 64), f32(Access::read, 64),
        f32(Access::readWrite, 4)},
       {},
       {},
       1,
       0},
      {"k_grad", {f32(Access::read, 64), f32(Access::write, 64)}, {}, {}, 4, 0},
      {"k_adam",
       {f32(Access::read, 64), f32(Access::read, 4),
        f32(Access::readWrite, 64)},
       {},
       {},
       16,
       0}};
  manifest.setObjectCode();
  return manifest;
}

template <typename T>
static int32_t findNamed(const std::vector<T> &table, const std::string &name) {
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) {
      return static_cast<int32_t>(i);
    }
  }
  std::abort();
}

int32_t findProgram(const Plan &plan, const std::string &name) {
  return findNamed(plan.programs, name);
}
int32_t findFrame(const Plan &plan, const std::string &name) {
  return findNamed(plan.frames, name);
}
int32_t findBuffer(const Plan &plan, const std::string &name) {
  return findNamed(plan.buffers, name);
}

} // namespace llmc::rt::plan

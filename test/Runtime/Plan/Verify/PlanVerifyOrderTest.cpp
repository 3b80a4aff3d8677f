//===- PlanVerifyOrderTest.cpp - Races and missing waits ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc;
using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

static std::vector<Instruction> &code(Plan &plan, const char *program) {
  return plan.programs[findProgram(plan, program)].instructions;
}

template <typename T> static void removeFirst(Plan &plan, const char *program) {
  auto &list = code(plan, program);
  for (size_t i = 0; i < list.size(); ++i) {
    if (std::holds_alternative<T>(list[i].action)) {
      list.erase(list.begin() + i);
      return;
    }
  }
}

TEST(PlanVerifyOrder, WaitWithoutSignal) {
  EXPECT_REFUSED_PLAN(
      "waits for event 1 of frame 'in', which nothing signals before "
      "it",
      { removeFirst<Signal>(plan, "c0.F"); });
}

TEST(PlanVerifyOrder, SignalTooEarly) {
  EXPECT_REFUSED_PLAN("is not ordered after", {
    // The tokens are signalled before they are copied.
    auto &list = code(plan, "c0.F");
    std::swap(list[1], list[2]);
  });
}

TEST(PlanVerifyOrder, SendWithoutReceive) {
  EXPECT_REFUSED_PLAN(
      "deadlock: stream 'S': 'send' (instruction 9 of program "
      "'c0.F', stage 0, microbatch 0) waits for its partner",
      {
        // The last stage makes up its input instead.
        auto &list = code(plan, "c1.F");
        list[1].action =
            Fill{firstOf<Receive>(plan, "c1.F").message.operands[0], 0};
      });
}

TEST(PlanVerifyOrder, TransferDiffers) {
  EXPECT_REFUSED_PLAN(
      "transfer 't0' from stage 0 to stage 1 differs in type or "
      "bytes",
      { firstOf<Receive>(plan, "c1.F").message.operands[0].shape = {4, 3}; });
}

TEST(PlanVerifyOrder, CollectiveDiffers) {
  EXPECT_REFUSED_PLAN("collective 'loss' differs between stages 0 and 1", {
    // Stage 1 runs a copy of the update with another reduction.
    plan.programs.push_back(plan.programs[findProgram(plan, "u")]);
    plan.programs.back().name = "u1";
    plan.entries[0].epilogue[1] =
        static_cast<int32_t>(plan.programs.size()) - 1;
    firstOf<Collective>(plan, "u1").reduction = ReductionKind::max;
  });
}

TEST(PlanVerifyOrder, CollectiveIsMissing) {
  EXPECT_REFUSED_PLAN("waits in 'loss' for stages 1", {
    plan.programs.push_back(plan.programs[findProgram(plan, "u")]);
    plan.programs.back().name = "u1";
    plan.entries[0].epilogue[1] =
        static_cast<int32_t>(plan.programs.size()) - 1;
    removeFirst<Collective>(plan, "u1");
  });
}

// Sends of both stages first, then receives, on one stream each: with
// rendezvous sends neither can go on.
TEST(PlanVerifyOrder, SendsThatMeetHeadOn) {
  PlanBuilder b(Mesh{{{"pipe", 2}}, 0});
  int32_t s = b.addStream("X", StreamKind::send);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t mine = b.addBuffer(frame, "mine", DType::f32, {4});
  int32_t theirs = b.addBuffer(frame, "theirs", DType::f32, {4});
  b.addTransfer("t");
  ExprId peer = b.binary(ExprOp::sub, b.constant(1), b.coordinate(0));
  int32_t p = b.addProgram("p", Phase::other);
  b.emit(p, s, Fill{b.view(mine), 0});
  b.emit(p, s, Send{{0, peer, {b.view(mine)}}});
  b.emit(p, s, Receive{{0, peer, {b.view(theirs)}}});
  b.place();
  Plan plan = b.take();
  Entry entry;
  entry.kind = EntryKind::forward;
  entry.numChunks = 0;
  entry.prologue = {p, p};
  entry.epilogue = {-1, -1};
  plan.entries = {entry};
  Status status = verifyPlan(plan);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_THAT(status.message(), HasSubstr("deadlock"));
  // One exchange does both at once.
  auto &list = plan.programs[p].instructions;
  Exchange exchange{{std::get<Send>(list[1].action).message},
                    {std::get<Receive>(list[2].action).message}};
  list.resize(1);
  list.push_back({s, -1, exchange});
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

TEST(PlanVerifyOrder, ReadOfWhatNothingWrote) {
  EXPECT_REFUSED_PLAN("reads 'step.loss', which nothing has written",
                      { code(plan, "begin").pop_back(); });
  EXPECT_REFUSED_PLAN("reads 'hyper.lr', which nothing has written",
                      { removeFirst<Copy>(plan, "begin"); });
}

TEST(PlanVerifyOrder, ValueIsLost) {
  EXPECT_REFUSED_PLAN("reads 'act0.h', whose bytes hold 'act0.thief' since", {
    Buffer thief = plan.buffers[findBuffer(plan, "h")];
    thief.name = "thief";
    plan.buffers.push_back(thief);
    Operand to = firstOf<KernelLaunch>(plan, "c0.F").operands[3];
    to.buffer = static_cast<int32_t>(plan.buffers.size()) - 1;
    code(plan, "c0.F").push_back({0, -1, Fill{to, 0}});
  });
}

TEST(PlanVerifyOrder, StateIsLost) {
  EXPECT_REFUSED_PLAN("state 'embedding' does not hold its value on stage 0", {
    Buffer thief = plan.buffers[findBuffer(plan, "w")];
    thief.name = "thief";
    plan.buffers.push_back(thief);
    Operand to = firstOf<KernelLaunch>(plan, "u").operands[2];
    to.buffer = static_cast<int32_t>(plan.buffers.size()) - 1;
    code(plan, "u").push_back({0, -1, Fill{to, 0}});
  });
}

TEST(PlanVerifyOrder, AnotherMicrobatch) {
  EXPECT_REFUSED_PLAN("which holds another microbatch", {
    // The slot of the activations stays that of microbatch 0: the frame seems
    // large enough, but its second slot is never used.
    plan.frames[findFrame(plan, "act0")].slot = noExpr;
  });
}

TEST(PlanVerifyOrder, WrittenTwice) {
  EXPECT_REFUSED_PLAN("writes 'act0.h' again", {
    Operand h = firstOf<KernelLaunch>(plan, "c0.F").operands[3];
    code(plan, "c0.F").push_back({0, -1, Fill{h, 0}});
  });
}

// Offsets that depend on the data coordinate: rows of each rank by itself, then
// gathered in place, on another stream.
static Plan makeShardedPlan(bool waits) {
  PlanBuilder b(Mesh{{{"data", 4}}, -1});
  int32_t c = b.addStream("C", StreamKind::compute);
  int32_t d = b.addStream("D", StreamKind::collective);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t whole = b.addBuffer(frame, "whole", DType::f32, {8});
  EventRef done = b.addEvent(frame);
  b.addSymbol("g");
  ExprId place = b.times(8, b.coordinate(0));
  Operand part = b.view(whole, 0, {2}, {}, place);
  int32_t p = b.addProgram("p", Phase::other);
  b.emit(p, c, Fill{part, 1});
  b.signal(p, c, done);
  if (waits) {
    b.wait(p, d, done);
  }
  Collective gather;
  gather.kind = CollectiveKind::allGather;
  gather.axes = {0};
  gather.inputs = {part};
  gather.outputs = {b.view(whole)};
  b.emit(p, d, gather);
  b.place();
  Plan plan = b.take();
  plan.entries = {makeEntryOf(p)};
  return plan;
}

TEST(PlanVerifyOrder, OffsetsOfOtherAxes) {
  EXPECT_EQ(verifyPlan(makeShardedPlan(true)).message(), "");
  EXPECT_THAT(verifyPlan(makeShardedPlan(false)).message(),
              HasSubstr("is not ordered after"));
  // Reading all of it is not covered by one rank's rows.
  Plan plan = makeShardedPlan(true);
  auto &gather = std::get<Collective>(plan.programs[0].instructions[3].action);
  gather.kind = CollectiveKind::allReduce;
  gather.inputs = gather.outputs;
  EXPECT_THAT(verifyPlan(plan).message(),
              HasSubstr("which nothing has written"));
}

// Two collectives of all stages, each on a stream of its own; stage `swapped`
// (none: -1) enqueues them in the other order.
static Plan makeTwoCollectives(int stages, int swapped) {
  PlanBuilder b(Mesh{{{"pipe", stages}}, 0});
  int32_t frame = b.addFrame("step", FrameKind::step);
  std::vector<int32_t> programs;
  for (int stage = 0; stage < stages; ++stage) {
    programs.push_back(b.addProgram("p" + std::to_string(stage), Phase::other));
  }
  for (const char *name : {"one", "two"}) {
    int32_t stream = b.addStream(name, StreamKind::collective);
    int32_t buffer = b.addBuffer(frame, name, DType::f32, {4});
    Collective sum;
    sum.symbol = b.addSymbol(name);
    sum.axes = {0};
    sum.inputs = sum.outputs = {b.view(buffer)};
    for (int32_t p : programs) {
      b.emit(p, stream, Fill{b.view(buffer), 0});
      b.emit(p, stream, sum);
    }
  }
  b.place();
  Plan plan = b.take();
  if (swapped >= 0) {
    auto &list = plan.programs[swapped].instructions;
    std::rotate(list.begin(), list.begin() + 2, list.end());
  }
  Entry entry;
  entry.kind = EntryKind::forward;
  entry.numChunks = 0;
  entry.prologue = programs;
  entry.epilogue.assign(stages, -1);
  plan.entries = {entry};
  return plan;
}

// Nothing deadlocks, but libraries have one order for all collectives.
TEST(PlanVerifyOrder, OneOrderOfCollectives) {
  EXPECT_EQ(verifyPlan(makeTwoCollectives(2, -1)).message(), "");
  EXPECT_EQ(verifyPlan(makeTwoCollectives(3, -1)).message(), "");
  EXPECT_THAT(verifyPlan(makeTwoCollectives(2, 1)).message(),
              HasSubstr("stages 0 and 1 enqueue their collectives in different "
                        "orders"));
  // Stage 0 is compared with all that come later.
  EXPECT_THAT(verifyPlan(makeTwoCollectives(3, 2)).message(),
              HasSubstr("stages 0 and 2 enqueue their collectives in different "
                        "orders"));
}

// Stage 1 runs a copy of the update that differs in one thing.
TEST(PlanVerifyOrder, CollectivesAgreeInEverything) {
  using C = Collective;
  auto verify = [](void (*edit)(C &loss)) {
    Plan plan = makeSamplePlan();
    plan.programs.push_back(plan.programs[findProgram(plan, "u")]);
    plan.programs.back().name = "u1";
    plan.entries[0].epilogue[1] =
        static_cast<int32_t>(plan.programs.size()) - 1;
    edit(firstOf<C>(plan, "u1"));
    return verifyPlan(plan).message();
  };
  EXPECT_EQ(verify([](C &) {}), "");
  for (auto edit : std::vector<void (*)(C &)>{
           [](C &c) {
             c.kind = CollectiveKind::reduce;
             c.peer = 0;
           },
           [](C &c) { c.axes = {1, 0}; }, [](C &c) { c.stages = {0, 1}; },
           [](C &c) { c.reduction = ReductionKind::max; },
           [](C &c) { c.dim = 1; }, [](C &c) { c.concatDim = 1; },
           [](C &c) { c.inputs[0].dtype = c.outputs[0].dtype = DType::i32; },
           [](C &c) { c.inputs[0].shape = c.outputs[0].shape = {1}; },
           [](C &c) {
             c.inputs.push_back(c.inputs[0]);
             c.inputs.back().shape = {0};
             c.outputs.push_back(c.inputs.back());
           }}) {
    EXPECT_THAT(verify(edit), HasSubstr("'loss' differs between stages"));
  }
}

TEST(PlanVerifyOrder, TransfersAgreeInEverything) {
  EXPECT_REFUSED_PLAN("transfer 't0' from stage 0 to stage 1 differs", {
    firstOf<Receive>(plan, "c1.F").message.operands[0].dtype = DType::i32;
  });
  EXPECT_REFUSED_PLAN("transfer 't0' from stage 0 to stage 1 differs", {
    auto &operands = firstOf<Send>(plan, "c0.F").message.operands;
    operands.push_back(operands[0]);
  });
  Plan plan = makeSamplePlan();
  firstOf<Receive>(plan, "c1.F").message.operands[0].shape = {2, 8};
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

TEST(PlanVerifyOrder, OneCollectiveOnTwoStreams) {
  EXPECT_REFUSED_PLAN(
      "collective 'loss' stands at the heads of two streams of stage "
      "0",
      {
        plan.programs.push_back(plan.programs[0]);
        Program &twice = plan.programs.back();
        twice.name = "twice";
        Collective loss = firstOf<Collective>(plan, "u");
        loss.inputs[0].shape = loss.outputs[0].shape = {0};
        twice.instructions = {{2, -1, loss}, {1, -1, loss}};
        plan.entries[0].epilogue[0] =
            static_cast<int32_t>(plan.programs.size()) - 1;
        plan.entries[0].epilogue[1] = -1;
      });
}

/// Stage 0 receives on each of `streams` what nobody sends.
static std::string verifyLonely(int streams) {
  PlanBuilder b(Mesh{{{"pipe", 2}}, 0});
  int32_t frame = b.addFrame("step", FrameKind::step);
  b.addTransfer("t");
  int32_t p = b.addProgram("p", Phase::other);
  for (int i = 0; i < streams; ++i) {
    int32_t s = b.addStream("s" + std::to_string(i), StreamKind::receive);
    int32_t x = b.addBuffer(frame, "x", DType::f32, {1});
    b.emit(p, s, Receive{{0, b.constant(1), {b.view(x)}}});
  }
  b.place();
  Plan plan = b.take();
  Entry entry;
  entry.name = "e";
  entry.kind = EntryKind::forward;
  entry.numChunks = 0;
  entry.prologue = {p, -1};
  entry.epilogue = {-1, -1};
  plan.entries = {entry};
  return verifyPlan(plan).message();
}

TEST(PlanVerifyOrder, FourAreNamedTheRestCounted) {
  auto lonely = [](int i) {
    return "stream 's" + std::to_string(i) + "': 'receive' (instruction " +
           std::to_string(i) +
           " of program 'p', stage 0) waits for its partner";
  };
  std::string four = "entry 'e': deadlock: " + lonely(0) + "; " + lonely(1) +
                     "; " + lonely(2) + "; " + lonely(3);
  EXPECT_EQ(verifyLonely(4), four);
  EXPECT_EQ(verifyLonely(5), four + "; and 1 more");
  EXPECT_EQ(verifyLonely(0), "");
}

// A collective of one stage among several needs nobody else.
TEST(PlanVerifyOrder, CollectiveOfOneStage) {
  Plan plan = makeSamplePlan();
  plan.programs.push_back(plan.programs[findProgram(plan, "u")]);
  plan.programs.back().name = "u1";
  plan.entries[0].epilogue[1] = static_cast<int32_t>(plan.programs.size()) - 1;
  firstOf<Collective>(plan, "u").stages = {0};
  firstOf<Collective>(plan, "u1").stages = {1};
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

// Buffers without a name are numbered.
TEST(PlanVerifyOrder, BuffersWithoutNames) {
  Plan plan = makeSamplePlan();
  code(plan, "begin").pop_back();
  int32_t loss = findBuffer(plan, "loss");
  plan.buffers[loss].name.clear();
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::EndsWith("reads 'step.#" + std::to_string(loss) +
                                "', which nothing has written"));
}

// Some device may write where the first one does not, and nobody has named
// those bytes yet.
TEST(PlanVerifyOrder, BytesOfNoBuffer) {
  Plan plan = makeShardedPlan(true);
  auto &list = plan.programs[0].instructions;
  Operand last = std::get<Collective>(list[3].action).outputs[0];
  last.offset = 24;
  last.shape = {2};
  list.resize(1);
  list.push_back({1, -1, Fill{last, 0}});
  EXPECT_EQ(verifyPlan(plan).message(),
            "entry 'e': 'fill' (instruction 1 of program 'p', stage 0) on "
            "stream 'D' of 'step.whole' is not ordered after 'fill' "
            "(instruction 0 of program 'p', stage 0), which uses bytes "
            "[24, 32) of the arena of stage 0");
}

// Along an axis of one device nothing moves: all of a value is written at once.
TEST(PlanVerifyOrder, AxesOfOneDevice) {
  for (int64_t devices : {1, 2}) {
    PlanBuilder b(Mesh{{{"data", devices}}, -1});
    int32_t stream = b.addStream("C", StreamKind::compute);
    int32_t frame = b.addFrame("act", FrameKind::act);
    int32_t y = b.addBuffer(frame, "y", DType::f32, {8});
    int32_t p = b.addProgram("p", Phase::forward, 0);
    Fill fill{b.view(y, 0, {4}, {}, b.times(16, b.coordinate(0))), 1};
    b.emit(p, stream, fill);
    b.emit(p, stream, fill);
    b.place();
    Plan plan = b.take();
    plan.entries = {makeEntryOf(-1)};
    plan.entries[0].numChunks = 1;
    plan.entries[0].table = {{p, 0}};
    EXPECT_EQ(verifyPlan(plan).message(),
              devices == 2
                  ? ""
                  : "entry 'e': 'fill' (instruction 1 of program 'p', stage 0, "
                    "microbatch 0) on stream 'C' writes 'act.y' again, after "
                    "'fill' (instruction 0 of program 'p', stage 0, microbatch "
                    "0)");
  }
}

// Only the stages of the collective are waited for.
TEST(PlanVerifyOrder, MissingStagesAreNamed) {
  PlanBuilder b(Mesh{{{"pipe", 4}}, 0});
  int32_t stream = b.addStream("D", StreamKind::collective);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t x = b.addBuffer(frame, "x", DType::f32, {4});
  Collective sum;
  sum.symbol = b.addSymbol("sum");
  sum.axes = {0};
  sum.stages = {0, 2, 3};
  sum.inputs = sum.outputs = {b.view(x)};
  int32_t p = b.addProgram("p", Phase::other);
  b.emit(p, stream, Fill{b.view(x), 0});
  b.emit(p, stream, sum);
  b.place();
  Plan plan = b.take();
  plan.entries = {makeEntryOf(p)};
  plan.entries[0].prologue = {p, -1, -1, -1};
  plan.entries[0].epilogue = {-1, -1, -1, -1};
  EXPECT_EQ(verifyPlan(plan).message(),
            "entry 'e': deadlock: stream 'D': 'collective' (instruction 1 of "
            "program 'p', stage 0) waits in 'sum' for stages 2 3");
}

// States lie anywhere in their frame, and hold a value from the beginning.
TEST(PlanVerifyOrder, StatesHoldTheirValues) {
  PlanBuilder b(Mesh{{{"data", 1}}, -1});
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t step = b.addFrame("step", FrameKind::step);
  int32_t frame = b.addFrame("state", FrameKind::state);
  int32_t y = b.addBuffer(step, "y", DType::f32, {16});
  const int32_t buffers[] = {b.addBuffer(frame, "v", DType::f32, {16}),
                             b.addBuffer(frame, "w", DType::f32, {16})};
  for (int i : {0, 1}) {
    State state;
    state.name = i ? "w" : "v";
    state.shape = {16};
    state.parts = {{{0}, Layout::whole({16}), {}, b.view(buffers[i])}};
    b.plan().states.push_back(state);
  }
  int32_t p = b.addProgram("p", Phase::other);
  b.emit(p, stream, Copy{b.view(y), b.view(buffers[1]), HostEnd::none, 0});
  b.place();
  Plan plan = b.take();
  plan.entries = {makeEntryOf(p)};
  EXPECT_EQ(verifyPlan(plan).message(), "");
  plan.states.pop_back();
  EXPECT_THAT(verifyPlan(plan).message(),
              HasSubstr("reads 'state.w', which nothing has written"));
}

// What moves with the device and with the second argument of a call: some
// device writes what another stream writes at the same time.
TEST(PlanVerifyOrder, OffsetsOfArguments) {
  for (int64_t offset : {16, 32}) {
    PlanBuilder b(Mesh{{{"data", 4}}, -1});
    int32_t c = b.addStream("C", StreamKind::compute);
    int32_t d = b.addStream("D", StreamKind::compute);
    int32_t frame = b.addFrame("step", FrameKind::step);
    int32_t x = b.addBuffer(frame, "x", DType::f32, {16});
    int32_t p = b.addProgram("p", Phase::other);
    b.plan().programs[p].numParameters = 2;
    b.plan().expressions.push_back({ExprOp::parameter, -1, -1, 1});
    ExprId place =
        b.binary(ExprOp::add, 0, b.times(8, b.coordinate(0))); // 4 to 32
    b.emit(p, c, Fill{b.view(x, 0, {1}, {}, place), 1});
    int32_t q = b.addProgram("q", Phase::other);
    b.emit(q, c, Call{p, noExpr, {b.constant(0), b.constant(4)}});
    b.emit(q, d, Fill{b.view(x, offset, {1}), 2});
    b.place();
    Plan plan = b.take();
    plan.entries = {makeEntryOf(q)};
    EXPECT_EQ(verifyPlan(plan).message(),
              offset == 32
                  ? ""
                  : "entry 'e': 'fill' (instruction 1 of program 'q', stage 0) "
                    "on stream 'D' of 'step.x' is not ordered after 'fill' "
                    "(instruction 0 of program 'p', stage 0), which uses bytes "
                    "[16, 20) of the arena of stage 0");
  }
}

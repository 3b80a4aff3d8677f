//===- PoolTest.cpp - Order, deadlock and shuffle of the CPU pool ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace llmc::rt {
namespace {

constexpr std::chrono::seconds patience(20);
const CopyBox box4{4, {}};

std::unique_ptr<World> makeWorld(int devices, std::optional<uint64_t> seed) {
  WorldOptions options;
  options.devices = devices;
  options.shuffleSeed = seed;
  return makeCpuWorld(options);
}

// Each side sends first on its only stream: rendezvous never happens. The
// report names both heads, their places and whom they wait for.
TEST(PoolTest, DeadlockIsExplained) {
  auto world = makeWorld(2, {});
  auto group = *world->split({{0, 1}});
  Origin origins[] = {{"send t0", "model.py:1"}, {"send t1", "model.py:2"}};
  float data[4] = {};
  for (int rank = 0; rank < 2; ++rank) {
    Stream *stream = *world->device(rank).stream({"S", 0, 4, 16});
    TransferPart send{true, group[rank], data + rank, 4};
    TransferPart take{false, group[rank], data + 2 + rank, 4};
    world->exchange(*stream, &send, 1, origins[rank]);
    world->exchange(*stream, &take, 1, origins[rank]);
  }
  Status status = world->drain(patience);
  ASSERT_EQ(status.kind(), ErrorKind::mismatch);
  for (const char *part : {"deadlock: 2 streams", "'send t0' (model.py:1)",
                           "'send t1' (model.py:2)", "a receive on device 1",
                           "a receive on device 0"}) {
    EXPECT_NE(status.message().find(part), std::string::npos)
        << part << " in " << status.message();
  }
}

// A wait for an event whose recording stream is itself blocked.
TEST(PoolTest, BlockedEventIsNamed) {
  auto world = makeWorld(2, {});
  auto group = *world->split({{0, 1}});
  Device &device = world->device(0);
  Stream *a = *device.stream({"A", 0, 4, 16}),
         *b = *device.stream({"B", 0, 4, 16});
  Event *event = *device.event({"a.e0", ""});
  ASSERT_TRUE(device.event({"a.e1", ""}).ok());
  Origin origin{"recv", "model.py:3"};
  float data = 0;
  TransferPart take{false, group[0], &data, 4};
  world->exchange(*a, &take, 1, origin);
  device.record(*a, *event, origin);
  device.wait(*b, *event, origin);
  Status status = world->drain(patience);
  EXPECT_NE(status.message().find("event 'a.e0' (record 1, reached 0)"),
            std::string::npos)
      << status.message();
}

// A kernel that does not end in time: the world says so, and again when it is
// asked later.
TEST(PoolTest, AKernelThatTakesTooLongIsNamed) {
  std::atomic<bool> flag(false);
  auto world = makeWorld(1, {});
  Device &device = world->device(0);
  ASSERT_TRUE(device.load(LLMC_TEST_KERNELS).ok());
  KernelShape shape{"wait", 1};
  shape.images = {{KernelFormat::object, "", "await_flag", {}}};
  Result<const Kernel *> kernel = device.kernel(shape);
  ASSERT_TRUE(kernel.ok()) << kernel.message();
  Stream *stream = *device.stream({"S", 0, 4, 16});
  void *buffers[] = {&flag};
  Origin origin{"wait", "model.py:4"};
  device.launch(*stream, {*kernel, buffers, 1, nullptr, 0, nullptr}, origin);
  Status status = world->drain(std::chrono::milliseconds(20));
  flag = true;
  EXPECT_EQ(status.kind(), ErrorKind::timeout);
  EXPECT_EQ(status.message(), "waited 20 ms for 1 streams; device 0 stream 'S' "
                              "at 'wait' (model.py:4) runs a kernel");
  EXPECT_EQ(world->drain(patience).message(), status.message());
}

// It is no deadlock.
TEST(PoolTest, AGateThatStaysShutIsNamed) {
  auto world = makeWorld(1, {});
  Device &device = world->device(0);
  Stream *stream = *device.stream({"S", 0, 4, 16});
  auto gate = *device.gate();
  gate->open(0);
  Origin origin{"update", "model.py:5"};
  device.waitFor(*stream, *gate, 1, origin);
  Status status = world->drain(std::chrono::milliseconds(20));
  EXPECT_EQ(status.kind(), ErrorKind::timeout);
  EXPECT_NE(status.message().find("waits for the host"), std::string::npos);
  gate->open(1);
}

/// Device 1 computes until `flag` holds and sends; device 0 waits for it on a
/// stream of that use. Seconds of the wait, the mean of both devices.
double waitFor(World &world, StreamUse use, std::chrono::milliseconds time) {
  std::atomic<bool> flag(false);
  auto group = *world.split({{0, 1}});
  EXPECT_TRUE(world.device(1).load(LLMC_TEST_KERNELS).ok());
  KernelShape shape{"wait", 1};
  shape.images = {{KernelFormat::object, "", "await_flag", {}}};
  const Kernel *kernel = *world.device(1).kernel(shape);
  Stream *computes[2], *moves[2];
  Event *events[2];
  for (int d : {0, 1}) {
    Device &device = world.device(d);
    StreamShape own{"C", 0, 8, 16}, other{"S", 0, 8, 16};
    own.use = use;
    other.use = StreamUse::communication;
    computes[d] = *device.stream(own);
    moves[d] = *device.stream(other);
    events[d] = *device.event({"e", ""});
  }
  Origin origin{"it", ""};
  float data[2] = {};
  void *buffers[] = {&flag};
  world.beginStep(0);
  world.device(1).launch(*computes[1],
                         {kernel, buffers, 1, nullptr, 0, nullptr}, origin);
  world.device(1).record(*computes[1], *events[1], origin);
  world.device(1).wait(*moves[1], *events[1], origin);
  for (int d : {0, 1}) {
    TransferPart part{d == 1, group[d], data + d, 4};
    world.exchange(*moves[d], &part, 1, origin);
  }
  world.device(0).record(*moves[0], *events[0], origin);
  world.device(0).wait(*computes[0], *events[0], origin);
  EXPECT_TRUE(world.submit().ok());
  std::this_thread::sleep_for(time);
  flag = true;
  EXPECT_TRUE(world.wait(patience).ok());
  return world.exposedSeconds().value_or(-1);
}

// What a compute stream stands at a wait for what a stream of communication
// signals is exposed; what another stream does is not, nor a wait of a stream
// of communication.
TEST(PoolTest, WaitsForCommunicationAreExposed) {
  auto world = makeWorld(2, {});
  double seconds =
      waitFor(*world, StreamUse::compute, std::chrono::milliseconds(60));
  EXPECT_GE(seconds, 0.029);
  EXPECT_LT(seconds, 5);
  auto other = makeWorld(2, {});
  EXPECT_EQ(waitFor(*other, StreamUse::copy, std::chrono::milliseconds(1)), 0);
  // Of a step without any.
  EXPECT_TRUE(world->beginStep(1));
  EXPECT_TRUE(world->submit().ok());
  EXPECT_TRUE(world->wait(patience).ok());
  EXPECT_EQ(world->exposedSeconds(), 0);
}

TEST(PoolTest, TransfersHaveOneSize) {
  auto world = makeWorld(2, {});
  auto group = *world->split({{0, 1}});
  Origin origins[] = {{"give", ""}, {"take", ""}};
  float data[4] = {};
  for (int rank = 0; rank < 2; ++rank) {
    Stream *stream = *world->device(rank).stream({"S", 0, 4, 16});
    TransferPart part{rank == 0, group[rank], data, rank == 0 ? 4u : 8u};
    world->exchange(*stream, &part, 1, origins[rank]);
  }
  EXPECT_EQ(world->drain(patience).message(),
            "expected 8 bytes in receive 'take' of device 1, got 4 from send "
            "'give' of device 0");
}

TEST(PoolTest, AStreamTakesWhatItHasReserved) {
  for (int count : {4, 5}) {
    auto world = makeWorld(1, {});
    Device &device = world->device(0);
    Stream *stream = *device.stream({"S", 0, 4, 16});
    Origin origin{"fill", ""};
    int32_t data = 0;
    for (int i = 0; i < count; ++i) {
      device.fill(*stream, &data, i, 4, box4, origin);
    }
    EXPECT_EQ(world->drain(patience).message(),
              count == 4
                  ? ""
                  : "expected at most 4 entries and 16 words in one "
                    "step in stream 'S' of device 0, got more at 'fill'");
  }
}

TEST(PoolTest, DevicesAreInOneGroup) {
  auto refusal = [](const std::vector<std::vector<int>> &groups) {
    return makeWorld(2, {})->split(groups).message();
  };
  EXPECT_EQ(refusal({{1}, {0}}), "");
  EXPECT_EQ(refusal({{0, 1}, {}}),
            "expected a group of 1 to 1024 devices, got 0");
  for (const auto &groups : std::vector<std::vector<std::vector<int>>>{
           {{1, 1}}, {{0, 1}, {1}}, {{2}}, {{-1}}}) {
    EXPECT_EQ(refusal(groups),
              "expected a device in [0, 2) in a group, which is in no other "
              "place, got " +
                  std::to_string(groups.back().back()));
  }
}

/// Two independent chains of three fills; returns the order's digest.
uint64_t runChains(std::optional<uint64_t> seed, int32_t (&data)[2]) {
  auto world = makeWorld(1, seed);
  Device &device = world->device(0);
  Origin origin{"fill", ""};
  for (int chain = 0; chain < 2; ++chain) {
    Stream *stream = *device.stream({"s", 0, 8, 0});
    for (int i = 0; i < 3; ++i) {
      device.fill(*stream, &data[chain], i, 4, box4, origin);
    }
  }
  EXPECT_TRUE(world->drain(patience).ok());
  EXPECT_EQ(world->order().tasks, 6u);
  return world->order().hash;
}

// 6 choose 3 = 20 legal orders; a seed names one.
TEST(PoolTest, ShuffleReachesAllOrders) {
  int32_t data[2];
  std::set<uint64_t> orders;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    orders.insert(runChains(seed, data));
    EXPECT_EQ(data[0], 2);
    EXPECT_EQ(data[1], 2);
  }
  EXPECT_EQ(orders.size(), 20u);
  EXPECT_EQ(runChains(3, data), runChains(3, data));
  EXPECT_EQ(runChains({}, data), runChains({}, data));
}

// Ready heads of greater priority run first.
TEST(PoolTest, PriorityDecidesAmongReadyHeads) {
  auto world = makeWorld(1, {});
  Device &device = world->device(0);
  Origin origin{"fill", ""};
  int32_t cell = 0;
  Stream *low = *device.stream({"low", 0, 4, 0});
  Stream *high = *device.stream({"high", 5, 4, 0});
  device.fill(*low, &cell, 1, 4, box4, origin);
  device.fill(*high, &cell, 2, 4, box4, origin);
  ASSERT_TRUE(world->drain(patience).ok());
  EXPECT_EQ(cell, 1);
}

// A collective of one buffer needs two words.
TEST(PoolTest, AStreamTakesTheWordsItHasReserved) {
  for (uint32_t words : {1, 2}) {
    auto world = makeWorld(1, {});
    auto group = *world->split({{0}});
    Stream *stream = *world->device(0).stream({"S", 0, 4, words});
    float value = 3;
    const void *ins[] = {&value};
    void *outs[] = {&value};
    Collective sum;
    sum.buffers = {{1, 1, 1}};
    Origin origin{"sum", ""};
    group[0]->collective(*stream, sum, ins, outs, origin);
    EXPECT_EQ(world->drain(patience).message(),
              words == 2 ? ""
                         : "expected at most 4 entries and 1 words in one step "
                           "in stream 'S' of device 0, got more at 'sum'");
  }
}

// While two steps wait, a third one is neither filled nor handed in.
TEST(PoolTest, TwoStepsAtMost) {
  int32_t cell = 0;
  auto world = makeWorld(1, {});
  Device &device = world->device(0);
  Stream *stream = *device.stream({"S", 0, 4, 0});
  Origin origin{"fill", ""};
  for (int i : {1, 2}) {
    device.fill(*stream, &cell, i, 4, box4, origin);
    EXPECT_TRUE(world->submit().ok());
  }
  std::string text = "expected at most 2 steps that are not waited for";
  EXPECT_EQ(world->submit().message(), text);
  device.fill(*stream, &cell, 3, 4, box4, origin);
  EXPECT_EQ(world->drain(patience).message(), text);
}

TEST(PoolTest, TheLargestGroup) {
  auto refusal = [](size_t size) {
    return makeWorld(1, {})->split({std::vector<int>(size)}).message();
  };
  EXPECT_EQ(refusal(1025), "expected a group of 1 to 1024 devices, got 1025");
  EXPECT_EQ(refusal(1024), "expected a device in [0, 1) in a group, which is "
                           "in no other place, got 0");
}

// Sixteen blocked streams are named; more are counted.
TEST(PoolTest, SixteenStreamsAreNamed) {
  for (int count : {16, 17}) {
    auto world = makeWorld(2, {});
    auto group = *world->split({{0, 1}});
    Origin origin{"take", ""};
    float data = 0;
    std::string text =
        "deadlock: " + std::to_string(count) + " streams are blocked";
    for (int i = 0; i < count; ++i) {
      std::string number = std::to_string(i);
      Stream *stream = *world->device(0).stream({"s" + number, 0, 4, 16});
      TransferPart take{false, group[0], &data, 4};
      world->exchange(*stream, &take, 1, origin);
      if (i < 16) {
        text += "; device 0 stream 's" + number +
                "' at 'take' waits for a send from device 1 (4 bytes, number " +
                number + ")";
      }
    }
    text += count == 17 ? "; and 1 more" : "";
    EXPECT_EQ(world->drain(patience).message(), text);
  }
}

// Of an exchange, the parts that have not met their partners.
TEST(PoolTest, OpenPartsAreNamed) {
  auto world = makeWorld(2, {});
  auto group = *world->split({{0, 1}});
  Origin both{"both", ""}, one{"one", ""};
  float data[4] = {};
  TransferPart parts[] = {{false, group[0], data, 4},
                          {true, group[0], data + 1, 4},
                          {true, group[0], data + 1, 8}};
  world->exchange(*(*world->device(0).stream({"S", 0, 4, 16})), parts, 3, both);
  TransferPart send{true, group[1], data + 2, 4};
  world->exchange(*(*world->device(1).stream({"S", 0, 4, 16})), &send, 1, one);
  EXPECT_EQ(world->drain(patience).message(),
            "deadlock: 1 streams are blocked; device 0 stream 'S' at 'both' "
            "waits for a receive on device 1 (4 bytes, number 0) and a receive "
            "on device 1 (8 bytes, number 1)");
}

/// What is said of two members, of which the second one is as `edit` makes it.
std::string compareMembers(const Collective &first,
                           void (*edit)(Collective &second)) {
  auto world = makeWorld(2, {});
  auto group = *world->split({{0, 1}});
  Collective second = first;
  edit(second);
  Origin origin{"all", ""};
  double in[8] = {}, out[8] = {};
  const void *ins[] = {in, in};
  void *outs[] = {out, out};
  for (int rank : {0, 1}) {
    Stream *stream = *world->device(rank).stream({"S", 0, 4, 16});
    group[rank]->collective(*stream, rank ? second : first, ins, outs, origin);
  }
  return world->drain(patience).message();
}

// Members agree in all that they bring.
TEST(PoolTest, MembersAgree) {
  Collective sum;
  sum.symbol = "s";
  sum.buffers = {{1, 2, 1}};
  using C = Collective;
  auto says = [](const std::string &first, const std::string &second) {
    return "expected " + first + " on device 1 as on device 0, got " + second;
  };
  std::string text = "all_reduce 's' f32 [1, 2; 1] sum in f32";
  EXPECT_EQ(compareMembers(sum, [](C &) {}), "");
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.symbol = "t"; }),
            says(text, "all_reduce 't' f32 [1, 2; 1] sum in f32"));
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.type = DType::f64; }),
            says(text, "all_reduce 's' f64 [1, 2; 1] sum in f32"));
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.accumulate = DType::f64; }),
            says(text, "all_reduce 's' f32 [1, 2; 1] sum in f64"));
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.reduction = ReductionKind::max; }),
            says(text, "all_reduce 's' f32 [1, 2; 1] max in f32"));
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.buffers[0].count = 1; }),
            says(text, "all_reduce 's' f32 [1, 1; 1] sum in f32"));
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.buffers[0].outer = 2; }),
            says(text, "all_reduce 's' f32 [2, 2; 1] sum in f32"));
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.buffers[0].outerOut = 2; }),
            says(text, "all_reduce 's' f32 [1, 2; 2] sum in f32"));
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.buffers.push_back({1, 1, 1}); }),
            says(text, "all_reduce 's' f32 [1, 2; 1] [1, 1; 1] sum in f32"));
  sum.kind = CollectiveKind::reduce;
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.root = 1; }),
            says("reduce 's' f32 [1, 2; 1] sum in f32 to 0",
                 "reduce 's' f32 [1, 2; 1] sum in f32 to 1"));
  sum.kind = CollectiveKind::broadcast;
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.kind = CollectiveKind::reduce; }),
            says("broadcast 's' f32 [1, 2; 1] from 0",
                 "reduce 's' f32 [1, 2; 1] sum in f32 to 0"));
  sum.kind = CollectiveKind::permute;
  sum.sources = {1, 0};
  EXPECT_EQ(compareMembers(sum, [](C &c) { c.sources = {0, 1}; }),
            says("permute 's' f32 [1, 2; 1] from [1, 0]",
                 "permute 's' f32 [1, 2; 1] from [0, 1]"));
}

// Sums are rounded once, to the type that they are stored as: each of two small
// numbers alone would be lost beside a 1.
TEST(PoolTest, SumsOfHalves) {
  struct Row {
    DType type;
    double small;
  };
  for (const Row &row : {Row{DType::bf16, 0x1p-8}, Row{DType::f16, 0x1p-11}}) {
    for (DType accumulate : {DType::f32, DType::f64}) {
      auto world = makeWorld(3, {});
      auto group = *world->split({{0, 1, 2}});
      Collective sum;
      sum.type = row.type;
      sum.accumulate = accumulate;
      sum.buffers = {{1, 1, 1}};
      Origin origin{"sum", ""};
      uint16_t in[3], out[3];
      for (int rank = 0; rank < 3; ++rank) {
        storeElement(row.type, in, rank, rank ? row.small : 1);
        const void *ins[] = {in + rank};
        void *outs[] = {out + rank};
        Stream *stream = *world->device(rank).stream({"S", 0, 4, 16});
        group[rank]->collective(*stream, sum, ins, outs, origin);
      }
      EXPECT_EQ(world->drain(patience).message(), "");
      for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(loadElement(row.type, out, rank), 1 + 2 * row.small)
            << nameOf(row.type) << " in " << nameOf(accumulate);
      }
    }
  }
}

// Whatever it is that has no place in its stream.
TEST(PoolTest, FullStreamsTakeNothing) {
  using Push = void (*)(World &world, Stream &stream, Communicator &group,
                        const Origin &origin);
  static float data[4];
  static void *buffers[] = {data, data, data};
  static const void *ins[] = {data};
  for (Push push : std::initializer_list<Push>{
           [](World &w, Stream &s, Communicator &, const Origin &o) {
             EXPECT_TRUE(w.device(0).load(LLMC_TEST_KERNELS).ok());
             KernelShape shape{"marks", 0};
             shape.images = {{KernelFormat::object, "", "mark_rows", {}}};
             const Kernel *kernel = *w.device(0).kernel(shape);
             w.device(0).launch(s, {kernel, buffers, 1, nullptr, 0, nullptr},
                                o);
           },
           [](World &w, Stream &s, Communicator &, const Origin &o) {
             ContractionShape shape;
             LibraryShape library{"l", shape, 1, 1 << 20};
             w.device(0).call(s, **w.device(0).prepare(library), buffers, 3,
                              nullptr, o);
           },
           [](World &w, Stream &s, Communicator &, const Origin &o) {
             w.device(0).copy(s, data, data + 1, box4, o);
           },
           [](World &w, Stream &s, Communicator &, const Origin &o) {
             w.device(0).fill(s, data, 1, 4, box4, o);
           },
           [](World &w, Stream &s, Communicator &, const Origin &o) {
             w.device(0).record(s, **w.device(0).event({"e", ""}), o);
           },
           [](World &w, Stream &s, Communicator &, const Origin &o) {
             w.device(0).wait(s, **w.device(0).event({"e", ""}), o);
           },
           [](World &w, Stream &s, Communicator &g, const Origin &o) {
             TransferPart part{true, &g, data, 4};
             w.exchange(s, &part, 1, o);
           },
           [](World &, Stream &s, Communicator &g, const Origin &o) {
             static Collective sum;
             sum.buffers = {{1, 1, 1}};
             g.collective(s, sum, ins, buffers, o);
           }}) {
    auto world = makeWorld(2, {});
    auto group = *world->split({{0, 1}});
    Stream *stream = *world->device(0).stream({"S", 0, 0, 0});
    Origin origin{"one", ""};
    push(*world, *stream, *group[0], origin);
    EXPECT_EQ(world->drain(patience).message(),
              "expected at most 0 entries and 0 words in one step in stream "
              "'S' of device 0, got more at 'one'");
  }
}

} // namespace
} // namespace llmc::rt

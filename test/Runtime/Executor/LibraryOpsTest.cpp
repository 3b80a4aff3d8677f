//===- LibraryOpsTest.cpp - What is equal is prepared once ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpaqueBackend.h"
#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include "llmc/Runtime/Plan/Format/PlanPrograms.h"

#include <algorithm>

namespace llmc::rt::test {
namespace {

using plan::Library;

/// The calls of `Device::prepare` that loading `plan` makes.
std::vector<PreparedOp> prepareAll(plan::Plan plan) {
  plan.target = "opaque";
  prepared.clear();
  auto session = openWalkthrough(plan);
  EXPECT_TRUE(session);
  return prepared;
}

/// The contractions of programs that `device` of the walkthrough runs; devices
/// 0 to 3 are of stage 0.
std::vector<Library *> callsOf(plan::Plan &plan, int stage) {
  std::vector<Library *> calls;
  for (int32_t program : plan::reachablePrograms(plan, stage)) {
    for (plan::Instruction &each : plan.programs[program].instructions) {
      if (auto *library = std::get_if<Library>(&each.action)) {
        calls.push_back(library);
      }
    }
  }
  return calls;
}

// A device prepares a descriptor once, however many instructions have it.
TEST(LibraryOpsTest, EqualDescriptorsArePreparedOnce) {
  plan::Plan plan = makeWalkthroughPlan(2, walkthroughObject, 1);
  std::vector<PreparedOp> all = prepareAll(plan);
  for (int device = 0; device < 8; ++device) {
    std::vector<Library *> calls = callsOf(plan, device / 4);
    std::vector<LibraryDescriptor> distinct;
    for (Library *call : calls) {
      if (std::find(distinct.begin(), distinct.end(), call->descriptor) ==
          distinct.end()) {
        distinct.push_back(call->descriptor);
      }
    }
    size_t count = 0;
    for (const PreparedOp &op : all) {
      count += op.device == device;
    }
    EXPECT_EQ(count, distinct.size()) << device;
    // On stage 0 the backward computes products of the forward again.
    EXPECT_EQ(distinct.size() < calls.size(), device < 4) << device;
  }
}

// What differs in any part of the descriptor is an op of its own.
TEST(LibraryOpsTest, EachFieldDistinguishes) {
  auto countWith = [](void (*edit)(ContractionShape &shape)) {
    plan::Plan plan = makeWalkthroughPlan(2, walkthroughObject, 1);
    std::vector<Library *> calls = callsOf(plan, 0);
    for (size_t i = 0; i < calls.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (calls[i]->descriptor == calls[j]->descriptor) {
          edit(std::get<ContractionShape>(calls[i]->descriptor));
          return prepareAll(plan).size();
        }
      }
    }
    return size_t(0);
  };
  using S = ContractionShape;
  size_t equal = countWith([](S &) {});
  EXPECT_GT(equal, 0u);
  // On each of the four devices of the stage.
  size_t another = equal + 4;
  EXPECT_EQ(countWith([](S &s) { s.alpha = 0.5; }), another);
  EXPECT_EQ(countWith([](S &s) { s.accumulate = DType::f64; }), another);
  EXPECT_EQ(countWith([](S &s) { s.activation = Activation::relu; }), another);
  EXPECT_EQ(countWith([](S &s) { s.indices.push_back({}); }), another);
}

// A device is asked for the form that the instruction names, and two forms of
// one descriptor are two ops.
TEST(LibraryOpsTest, FormsAreThoseOfThePlan) {
  constexpr int32_t byColumns = 2;
  plan::Plan plan = makeWalkthroughPlan(2, walkthroughObject, 1);
  size_t before = prepareAll(plan).size();
  std::vector<Library *> calls = callsOf(plan, 0);
  auto isEqual = [&](const Library *call) {
    return call != calls[0] && call->descriptor == calls[0]->descriptor;
  };
  ASSERT_TRUE(std::any_of(calls.begin(), calls.end(), isEqual));
  calls[0]->form = byColumns;
  std::vector<PreparedOp> all = prepareAll(plan);
  EXPECT_EQ(all.size(), before + 4);
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const PreparedOp &op) {
                            return op.shape.form == byColumns;
                          }),
            4);
}

} // namespace
} // namespace llmc::rt::test

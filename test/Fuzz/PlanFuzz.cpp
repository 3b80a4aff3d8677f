//===- PlanFuzz.cpp - Mutated plans, loaded and run -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-plan-fuzz <corpus> <folder of a plan>... [--count n] [--seed s]
//
// Broken copies of compiled plans with good checksums, the way of llmc-run:
// read from a file, verified, bound, a step of each entry run on the kernels
// that the plan was compiled with. Bytes beside buffers must stay as they were.
//
// Tests: test/Fuzz/plans.test
//===----------------------------------------------------------------------===//

#include "ForkDriver.h"
#include "PlanMutator.h"

#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Executor/Session.h"

#include <fmt/format.h>

#include <fstream>

namespace llmc::test {
namespace {

struct BasePlan {
  std::string folder;
  rt::plan::Plan plan;
};

class PlanSubject : public FuzzSubject {
public:
  PlanSubject(std::string corpus, std::vector<BasePlan> plans)
      : corpus_(std::move(corpus)), plans_(std::move(plans)) {}

  std::string name() const override { return "plans"; }
  std::string make(uint64_t seed, int64_t index) const override {
    return rt::plan::makeMutant(base(index).plan, seed,
                                static_cast<uint64_t>(index));
  }
  int run(const std::string &input, int64_t index,
          const std::string &folder) const override;

private:
  const BasePlan &base(int64_t index) const {
    return plans_[static_cast<size_t>(index / 2) % plans_.size()];
  }
  rt::Status runSteps(const rt::plan::Plan &plan,
                      const std::string &folder) const;

  std::string corpus_;
  std::vector<BasePlan> plans_;
};

rt::Status PlanSubject::runSteps(const rt::plan::Plan &plan,
                                 const std::string &folder) const {
  // A plan may legally ask for more memory than the test gives.
  if (rt::plan::isTooLargeToRun(plan)) {
    rt::plan::Environment environment;
    return rt::plan::verifyPlan(plan, environment);
  }
  rt::SessionOptions options;
  options.folder = folder;
  options.trustKernels = true;
  options.threads = 1;
  options.poison = 0xa5;
  options.deadline = std::chrono::seconds(10);
  LLMC_TRY_ASSIGN(auto session, rt::Session::open(plan, options));
  LLMC_TRY(session->useData("", corpus_, rt::DType::u8));
  rt::Status status;
  for (const rt::plan::Entry &entry : plan.entries) {
    rt::Status ran = session->run(entry.name, 0);
    status = status.ok() ? ran : status;
  }
  // A world that is dead after an error gives no memory.
  auto audit = session->auditMemory();
  if (audit.ok() && audit->touchedOutside) {
    return rt::makeError(
        rt::ErrorKind::internal,
        fmt::format("{} bytes beside buffers touched", audit->touchedOutside));
  }
  return status;
}

int PlanSubject::run(const std::string &input, int64_t index,
                     const std::string &folder) const {
  std::string path = folder + "/plan.llmc";
  std::ofstream(path, std::ios::binary) << input;
  auto plan = rt::plan::readPlan(path);
  rt::Status status =
      plan.ok() ? runSteps(*plan, base(index).folder) : plan.status();
  return status.ok() ? 0 : rt::reportError("llmc-plan-fuzz", status, "");
}

} // namespace
} // namespace llmc::test

int main(int argc, char **argv) {
  using namespace llmc::test;
  FuzzOptions options = readFuzzOptions(argc, argv);
  if (options.rest.size() < 2) {
    fmt::print(stderr,
               "usage: {} <corpus> <folder of a plan>... [--count n] "
               "[--seed s] [--jobs j] [--folder f]\n",
               argv[0]);
    return 2;
  }
  std::vector<BasePlan> plans;
  for (size_t i = 1; i < options.rest.size(); ++i) {
    auto plan = llmc::rt::plan::readPlan(options.rest[i] + "/plan.llmc");
    if (!plan.ok()) {
      return llmc::rt::reportError("llmc-plan-fuzz", plan.status(), "");
    }
    plans.push_back({options.rest[i], *std::move(plan)});
  }
  return fuzz(PlanSubject(options.rest[0], std::move(plans)), options);
}

//===- Environment.cpp - What a launcher says of a process ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Job/EnvironmentTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Environment.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace llmc::rt {

namespace {
/// The variables of a launcher.
struct LaunchVariables {
  const char *process, *size, *host, *port;
};

constexpr std::array<LaunchVariables, 4> launchers = {{
    {"LLMC_RANK", "LLMC_WORLD_SIZE", "LLMC_ADDRESS", "LLMC_PORT"},
    {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "MASTER_ADDR",
     "MASTER_PORT"},
    {"SLURM_PROCID", "SLURM_NTASKS", "MASTER_ADDR", "MASTER_PORT"},
}};
constexpr int mostRanks = 1 << 20, mostPort = 65535;
} // namespace

Environment processEnvironment() {
  return [](const std::string &name) -> std::optional<std::string> {
    const char *value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

static Result<int> readNumber(const std::string &name, const std::string &text,
                              int least, int most) {
  int value = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() ||
      value < least || value > most) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected a number from {} to {} in the "
                                 "variable {}, got '{}'",
                                 least, most, name, text));
  }
  return value;
}

std::string firstHost(const std::string &nodes) {
  std::string host = nodes.substr(0, nodes.find_first_of("[,"));
  size_t open = nodes.find_first_of("[,");
  if (open != std::string::npos && nodes[open] == '[') {
    size_t end = nodes.find_first_of("-,]", open);
    host +=
        nodes.substr(open + 1, end == std::string::npos ? end : end - open - 1);
    size_t close = nodes.find(']', open);
    size_t rest = close == std::string::npos ? nodes.size() : close + 1;
    host += nodes.substr(rest, nodes.find(',', rest) - rest);
  }
  return host;
}

/// Slurm names the nodes of a step, and process 0 runs on the first. Jobs of
/// one machine get ports of their own.
static void askSlurm(const LaunchVariables &launcher,
                     const Environment &environment, JobPlace &place) {
  auto nodes = environment("SLURM_STEP_NODELIST");
  if (launcher.process != std::string("SLURM_PROCID") || !nodes ||
      environment(launcher.host)) {
    return;
  }
  constexpr int portsOfJobs = 10000;
  place.host = firstHost(*nodes);
  Result<int> job =
      readNumber("SLURM_JOB_ID", environment("SLURM_JOB_ID").value_or("0"), 0,
                 std::numeric_limits<int>::max());
  place.port += job.ok() ? *job % portsOfJobs : 0;
}

/// What one launcher says; absent where it did not start this process.
static Result<std::optional<JobPlace>>
readLauncher(const LaunchVariables &launcher, const Environment &environment) {
  auto process = environment(launcher.process);
  auto size = environment(launcher.size);
  if (!process && !size) {
    return std::optional<JobPlace>();
  }
  if (!process || !size) {
    return makeError(
        ErrorKind::usage,
        fmt::format("expected the variables {} and {}, got {} alone",
                    launcher.process, launcher.size,
                    process ? launcher.process : launcher.size));
  }
  JobPlace place;
  LLMC_TRY_ASSIGN(place.size, readNumber(launcher.size, *size, 1, mostRanks));
  LLMC_TRY_ASSIGN(place.process,
                  readNumber(launcher.process, *process, 0, place.size - 1));
  askSlurm(launcher, environment, place);
  place.host = environment(launcher.host).value_or(place.host);
  if (auto port = environment(launcher.port)) {
    LLMC_TRY_ASSIGN(place.port, readNumber(launcher.port, *port, 1, mostPort));
  }
  // torchrun's own store listens at the port that it names.
  bool isTaken = launcher.port == std::string("MASTER_PORT") &&
                 environment("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.port += isTaken && place.port < mostPort;
  place.token = environment("LLMC_TOKEN").value_or("");
  return std::optional<JobPlace>(place);
}

Result<std::optional<JobPlace>> findJob(const Environment &environment) {
  std::optional<JobPlace> found;
  const LaunchVariables *first = nullptr;
  for (const LaunchVariables &launcher : launchers) {
    LLMC_TRY_ASSIGN(auto place, readLauncher(launcher, environment));
    if (!place || place->size == 1) {
      continue;
    }
    if (found &&
        (found->process != place->process || found->size != place->size)) {
      return makeError(
          ErrorKind::usage,
          fmt::format("expected one launcher, got process {} of {} by {} and "
                      "{}, and process {} of {} by {} and {}",
                      found->process, found->size, first->process, first->size,
                      place->process, place->size, launcher.process,
                      launcher.size));
    }
    if (!found) {
      found = place;
      first = &launcher;
    }
  }
  return found;
}

} // namespace llmc::rt

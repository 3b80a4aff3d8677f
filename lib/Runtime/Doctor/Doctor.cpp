//===- Doctor.cpp - What this machine has of what llmc can use ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Doctor/DoctorTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Doctor/Doctor.h"

#include "SharedLibraries.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Comm/Backend.h"
#include "llmc/Runtime/Job/Job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace llmc::rt {

using doctor::examineLibraries;

/// The first line of /proc/cpuinfo or /proc/meminfo that begins with `key`.
static std::string procField(const std::string &file, const std::string &key) {
  Result<std::string> text = readFile(file);
  std::istringstream lines(text.ok() ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, key.size(), key) == 0) {
      size_t colon = line.find(':');
      size_t begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? "" : line.substr(begin);
    }
  }
  return "";
}

static bool hasFlag(const std::string &flags, const std::string &flag) {
  return (" " + flags + " ").find(" " + flag + " ") != std::string::npos;
}

static void examineProcessor(std::vector<Finding> &findings) {
  std::string model = procField("/proc/cpuinfo", "model name");
  unsigned threads = std::thread::hardware_concurrency();
  findings.push_back({"processor",
                      fmt::format("{}, {} threads", model, threads), "x86-64",
                      "virtual devices, and the host of all others", "", true});
  constexpr double kibiOfGibi = 1024.0 * 1024.0;
  double memory = std::atof(procField("/proc/meminfo", "MemTotal").c_str());
  findings.push_back({"memory", fmt::format("{:.1f} GiB", memory / kibiOfGibi),
                      "", "arenas of virtual devices", "", true});
  struct Unit {
    const char *flag, *purpose;
  };
  constexpr Unit units[] = {
      {"avx2", "kernels in vectors of 8 floats"},
      {"avx512f", "kernels in vectors of 16 floats"},
      {"avx512_bf16", "products of bf16 at up to twice the speed of f32"},
      {"amx_bf16", "products of bf16 in tiles"},
  };
  std::string flags = procField("/proc/cpuinfo", "flags");
  for (const Unit &unit : units) {
    bool has = hasFlag(flags, unit.flag);
    findings.push_back({unit.flag, has ? "yes" : "", "", unit.purpose,
                        "this processor has none; what is computed is the same",
                        has});
  }
}

static void examineBackends(std::vector<Finding> &findings) {
  for (const char *target : {"cpu", "cuda"}) {
    Result<const Backend *> backend = findBackend(target);
    findings.push_back({fmt::format("backend-{}", target),
                        backend.ok() ? "in this build" : "", "",
                        fmt::format("plans of the target {}", target),
                        "this build of llmc has none", backend.ok()});
  }
}

static bool isOnPath(const std::string &program) {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

static void examineMessages(std::vector<Finding> &findings) {
  struct Library {
    const char *name, *package;
  };
  for (const Library &library :
       {Library{"gloo", "libgloo-dev"}, Library{"mpi", "libopenmpi-dev"}}) {
    Status loads = checkTransport(library.name);
    findings.push_back(
        {library.name, loads.ok() ? "a module of this build" : "", "",
         fmt::format("messages between processes: --messages {}", library.name),
         fmt::format("install it (Debian: {}) and build llmc again",
                     library.package),
         loads.ok()});
  }
  bool has = isOnPath("mpirun");
  findings.push_back({"mpirun", has ? "on the path" : "", "",
                      "starts processes that send messages by MPI",
                      "install it (Debian: openmpi-bin)", has});
}

std::vector<Finding> examineMachine() {
  std::vector<Finding> findings;
  examineProcessor(findings);
  examineBackends(findings);
  examineMessages(findings);
  examineLibraries(findings);
  return findings;
}

std::string printFindings(const std::vector<Finding> &findings) {
  size_t names = 0, founds = 0;
  auto textOf = [](const Finding &each) {
    std::string text = each.found.empty() ? "not there" : each.found;
    return each.wanted.empty()
               ? text
               : fmt::format("{} (wanted: {})", text, each.wanted);
  };
  constexpr size_t mostColumn = 60;
  for (const Finding &each : findings) {
    names = std::max(names, each.name.size());
    founds = std::max(founds, std::min(mostColumn, textOf(each).size()));
  }
  std::string text;
  for (const Finding &each : findings) {
    text += fmt::format("{} {:{}}  {:{}}  {}\n", each.fits ? "+" : "-",
                        each.name, names, textOf(each), founds, each.purpose);
    if (!each.fits && !each.hint.empty()) {
      text += fmt::format("  {:{}}  {}\n", "", names, each.hint);
    }
  }
  return text;
}

std::string printFindingsAsJson(const std::vector<Finding> &findings) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Finding &each : findings) {
    rows.push_back({{"name", each.name},
                    {"fits", each.fits},
                    {"found", each.found},
                    {"wanted", each.wanted},
                    {"purpose", each.purpose},
                    {"hint", each.fits ? "" : each.hint}});
  }
  return rows.dump(2) + "\n";
}

Status checkNeeds(const std::vector<Finding> &findings,
                  const std::vector<std::string> &needs) {
  for (const std::string &need : needs) {
    auto found =
        std::find_if(findings.begin(), findings.end(),
                     [&](const Finding &each) { return each.name == need; });
    if (found == findings.end()) {
      std::vector<std::string> names;
      for (const Finding &each : findings) {
        names.push_back(each.name);
      }
      return makeError(ErrorKind::usage,
                       fmt::format("expected one of {}, got '{}'",
                                   fmt::join(names, ", "), need));
    }
    if (!found->fits) {
      return makeError(
                 ErrorKind::mismatch,
                 fmt::format("expected {} ({}), got {}", need, found->purpose,
                             found->found.empty() ? "none" : found->found))
          .withHint(found->hint);
    }
  }
  return Status::success();
}

std::string printVersion(int64_t version, int64_t unit, int64_t step) {
  int64_t patch = version % step;
  std::string text =
      fmt::format("{}.{}", version / unit, version % unit / step);
  return step > 1 ? fmt::format("{}.{}", text, patch) : text;
}

} // namespace llmc::rt

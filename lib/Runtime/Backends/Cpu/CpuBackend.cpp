//===- CpuBackend.cpp - The target "cpu" ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan may ask of this machine, and the world that runs it. Every
// program with this backend links this file, and so announces it.
// Tested by test/Runtime/Backends/Cpu/CpuBackendTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Group.h"
#include "LibraryOp.h"
#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"
#include "llmc/Runtime/Base/File.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <thread>

namespace llmc::rt {

namespace {

class CpuBackend final : public Backend {
public:
  std::string_view target() const override { return "cpu"; }
  std::vector<std::string> features() const override;
  Result<uint64_t> libraryWorkspace(const LibraryShape &shape) const override;
  Result<std::unique_ptr<World>>
  makeWorld(const WorldOptions &options) const override;
};

/// As /proc/cpuinfo names them.
std::vector<std::string> CpuBackend::features() const {
  Result<std::string> text = readFile("/proc/cpuinfo");
  size_t at = text ? text->find("\nflags") : std::string::npos;
  at = at == std::string::npos ? at : text->find(':', at);
  if (at == std::string::npos) {
    return {};
  }
  std::istringstream line(text->substr(at + 1, text->find('\n', at) - at - 1));
  return {std::istream_iterator<std::string>(line), {}};
}

Result<uint64_t> CpuBackend::libraryWorkspace(const LibraryShape &shape) const {
  LLMC_TRY_ASSIGN(auto op, cpu::CpuLibraryOp::make(shape));
  return op->workspaceBytes();
}

Result<std::unique_ptr<World>>
CpuBackend::makeWorld(const WorldOptions &options) const {
  if (options.devices > static_cast<int64_t>(cpu::mostMembers)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected a plan for at most {} virtual "
                                 "devices, got {}",
                                 cpu::mostMembers, options.devices));
  }
  int processes = options.transport ? options.transport->size() : 1;
  if (options.devices % processes != 0) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected a plan for a multiple of {} devices, "
                    "the number of processes, got {}",
                    processes, options.devices));
  }
  WorldOptions resolved = options;
  if (resolved.threads <= 0) {
    int64_t wanted = options.devices / processes * options.threadsPerDevice;
    int64_t there = std::max(1u, std::thread::hardware_concurrency());
    resolved.threads = static_cast<int>(std::min(wanted, there));
  }
  return makeCpuWorld(resolved);
}

BackendRegistration registration(std::make_unique<CpuBackend>());

} // namespace

} // namespace llmc::rt

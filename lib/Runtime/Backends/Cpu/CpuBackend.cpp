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
#include "Products/Contraction.h"
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
  std::string machine() const override;
  std::vector<std::string> features() const override;
  Result<uint64_t> libraryWorkspace(const LibraryShape &shape) const override;
  std::vector<LibraryForm>
  libraryForms(const LibraryShape &shape) const override;
  Result<std::unique_ptr<World>>
  makeWorld(const WorldOptions &options) const override;
};

/// What follows the colon of the first line that begins with the key.
std::string findInCpuInfo(const std::string &key) {
  Result<std::string> text = readFile("/proc/cpuinfo");
  size_t at = text ? text->find("\n" + key + "\t") : std::string::npos;
  at = at == std::string::npos ? at : text->find(':', at);
  if (at == std::string::npos) {
    return "";
  }
  size_t begin = text->find_first_not_of(" ", at + 1);
  return text->substr(begin, text->find('\n', begin) - begin);
}

std::string CpuBackend::machine() const {
  return fmt::format("{}, family {}, model {}, oneDNN {}",
                     findInCpuInfo("model name"), findInCpuInfo("cpu family"),
                     findInCpuInfo("model"), cpu::libraryVersion());
}

/// As /proc/cpuinfo names them.
std::vector<std::string> CpuBackend::features() const {
  std::istringstream line(findInCpuInfo("flags"));
  return {std::istream_iterator<std::string>(line), {}};
}

Result<uint64_t> CpuBackend::libraryWorkspace(const LibraryShape &shape) const {
  LLMC_TRY_ASSIGN(auto op, cpu::CpuLibraryOp::make(shape));
  return op->workspaceBytes();
}

/// Those of a contraction that can be made; by columns only where more than one
/// thread shares them.
std::vector<LibraryForm>
CpuBackend::libraryForms(const LibraryShape &shape) const {
  std::vector<LibraryForm> forms = {{}};
  const auto *contraction = std::get_if<ContractionShape>(&shape.descriptor);
  if (!contraction) {
    return forms;
  }
  uint32_t count = shape.threads > 1 ? cpu::contractionFormNames.size() : 2;
  for (uint32_t form = 1; form < count; ++form) {
    if (cpu::makeContraction(*contraction, shape.name, shape.threads,
                             static_cast<cpu::ContractionForm>(form))
            .ok()) {
      forms.push_back({form, std::string(cpu::contractionFormNames[form])});
    }
  }
  return forms;
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

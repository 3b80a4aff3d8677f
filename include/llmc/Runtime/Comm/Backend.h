//===- Backend.h - What makes the worlds of a target ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan names the target that it is compiled for; a backend is the module that
// runs the plans of one target. Backends are optional parts of a build: each
// announces itself when it is linked or loaded, and nobody else knows its name.
//
//   namespace { BackendRegistration registration(makeCudaBackend()); }
//   ...
//   LLMC_TRY_ASSIGN(const Backend *backend, findBackend(plan.target));
//   LLMC_TRY_ASSIGN(auto world, backend->makeWorld(options));
//
// Whoever makes a plan asks here too, on the machine that the plan is for: what
// scratch the library wants, what the processor can do.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_COMM_BACKEND_H
#define LLMC_RUNTIME_COMM_BACKEND_H

#include "llmc/Runtime/Comm/Transport.h"
#include "llmc/Runtime/Comm/World.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::rt {

struct WorldOptions {
  int64_t devices = 1;
  /// Workers that virtual devices share; 0: as many as the devices ask for,
  /// within the processor's.
  int threads = 0;
  /// Threads that each device's kernels are sliced for; part of a plan, since
  /// it decides the bits of column reductions. Not more than tickets: there may
  /// be fewer workers.
  int threadsPerDevice = 1;
  /// Takes any ready task in an order drawn from this seed.
  std::optional<uint64_t> shuffleSeed;
  /// Between the processes of the job, among which the devices are dealt out in
  /// blocks of equal size; null: this is the only one.
  std::shared_ptr<Transport> transport;
  /// Keeps when each entry ran, for `World::takeTrace`.
  bool trace = false;
};

/// A way of a library to compute something.
struct LibraryForm {
  uint32_t number = 0;
  std::string name = "as it lies";
};

class Backend {
public:
  virtual ~Backend() = default;

  /// As plans name it: lower case, "cpu".
  virtual std::string_view target() const = 0;
  /// The target of the kernels that it launches, as manifests name it.
  virtual std::string_view kernelTarget() const { return target(); }
  /// What kernels are compiled for that are to run on this machine's devices,
  /// as `llmc compile --target` has it: "cpu", "cuda:sm_90". Error (15): there
  /// is no device, or none that kernels are compiled for.
  virtual Result<std::string> codeTarget() const {
    return std::string(target());
  }
  /// What decides how fast its library is: the processor, and the version.
  virtual std::string machine() const { return std::string(target()); }
  /// What kernel objects may rely on, as their manifests name it.
  virtual std::vector<std::string> features() const = 0;
  /// Bytes of workspace that the library needs for `shape.descriptor` with
  /// `shape.threads`: what `Device::prepare` compares `shape.workspaceBytes`
  /// with. Error (15) as from there.
  virtual Result<uint64_t>
  libraryWorkspace(const LibraryShape &shape) const = 0;
  /// The ways in which the library can compute `shape.descriptor` with
  /// `shape.threads`; `shape.form` does not count. Numbers and names stay what
  /// they are, and number 0 is what it takes where nobody has measured. They
  /// may differ in the order of additions, and in the workspace.
  virtual std::vector<LibraryForm>
  libraryForms(const LibraryShape &shape) const {
    (void)shape;
    return {{}};
  }
  /// Error (15) for more devices than the backend drives.
  virtual Result<std::unique_ptr<World>>
  makeWorld(const WorldOptions &options) const = 0;
};

/// The backend of a target. Error (15) with the targets that there are.
Result<const Backend *> findBackend(std::string_view target);

/// Announces a backend for as long as this lives: a static object in the file
/// of the backend that every program with it links.
class BackendRegistration {
public:
  explicit BackendRegistration(std::unique_ptr<Backend> backend);
  ~BackendRegistration();
  BackendRegistration(const BackendRegistration &) = delete;

private:
  std::unique_ptr<Backend> backend;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_COMM_BACKEND_H

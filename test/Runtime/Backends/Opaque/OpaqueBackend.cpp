//===- OpaqueBackend.cpp - Devices whose memory the host cannot see -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target "opaque" of tests: the devices of "cpu", but each address of
// device memory that the executor holds lies in a mapping without any right, as
// an address of a GPU does. Kernels, copies and collectives are given the real
// address behind it. A host that follows an address stops at once, and a copy
// from or to host memory that no device reserved is an error.
//
//   the executor's   [ PROT_NONE ........... ]   base
//   the kernels'     [ memory of the CPU ... ]   base + shift
//
// Each step is captured the first time that its key comes, and replayed from
// then on without the executor, as a CUDA graph is.
//
//===----------------------------------------------------------------------===//

#include "OpaqueBackend.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <sys/mman.h>

namespace llmc::rt::test {

std::vector<PreparedOp> prepared;

namespace {

struct Mapping {
  uintptr_t base;
  uint64_t bytes;
  std::ptrdiff_t shift; ///< To the real address; 0 of host memory.
};

/// The memory of all devices of a world.
class AddressSpace {
public:
  ~AddressSpace() {
    for (const Mapping &mapping : mappings) {
      if (mapping.shift) {
        munmap(reinterpret_cast<void *>(mapping.base), mapping.bytes);
      }
    }
  }

  Result<Arena> hide(const Arena &real) {
    // Of at least a page, so that no two arenas share an address.
    uint64_t bytes = std::max<uint64_t>(real.bytes, 1);
    void *base = mmap(nullptr, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      return makeError(ErrorKind::outOfMemory, "cannot hide an arena");
    }
    auto *hidden = static_cast<std::byte *>(base);
    mappings.push_back(
        {reinterpret_cast<uintptr_t>(base), bytes,
         static_cast<std::ptrdiff_t>(reinterpret_cast<uintptr_t>(real.base) -
                                     reinterpret_cast<uintptr_t>(base))});
    return Arena{hidden, real.bytes};
  }
  void show(const Arena &host) {
    mappings.push_back({reinterpret_cast<uintptr_t>(host.base), host.bytes, 0});
  }

  /// The real address; null when no device reserved `bytes` there.
  template <typename T> T *resolve(T *address, uint64_t bytes) const {
    auto value = reinterpret_cast<uintptr_t>(address);
    for (const Mapping &mapping : mappings) {
      if (value >= mapping.base &&
          value + bytes <= mapping.base + mapping.bytes) {
        return reinterpret_cast<T *>(value +
                                     static_cast<uintptr_t>(mapping.shift));
      }
    }
    return nullptr;
  }

private:
  std::vector<Mapping> mappings;
};

/// What is enqueued: at once outside of steps, and by `replay` within.
class Tape {
public:
  using Call = std::function<void()>;

  void add(Call call) {
    if (!step) {
      call();
      return;
    }
    step->push_back(std::move(call));
  }
  /// Whether the step of `key` is still to be captured.
  bool begin(uint64_t key) {
    auto [found, isNew] = steps.try_emplace(key);
    step = &found->second;
    return isNew;
  }
  void replay() {
    if (step) {
      for (const Call &call : *step) {
        call();
      }
    }
    step = nullptr;
  }

private:
  std::map<uint64_t, std::vector<Call>> steps;
  std::vector<Call> *step = nullptr;
};

/// Bytes from the first to after the last that one end of a copy touches.
static uint64_t spanOf(const CopyBox &box, int64_t CopyDim::*stride) {
  uint64_t span = box.bytes;
  for (const CopyDim &dim : box.dims) {
    if (dim.extent == 0) {
      return 0;
    }
    span += (dim.extent - 1) * static_cast<uint64_t>(dim.*stride);
  }
  return span;
}

class OpaqueDevice final : public Device {
public:
  OpaqueDevice(Device &inner, AddressSpace &space, Tape &tape,
               Communicator *&anyone)
      : inner(inner), space(space), tape(tape), anyone(anyone) {}

  int index() const override { return inner.index(); }
  uint64_t memoryBytes() const override { return inner.memoryBytes(); }

  Result<Arena> reserve(uint64_t bytes, MemoryKind kind) override {
    LLMC_TRY_ASSIGN(Arena real, inner.reserve(bytes, kind));
    if (kind == MemoryKind::device) {
      return space.hide(real);
    }
    space.show(real);
    return real;
  }
  Result<Stream *> stream(const StreamShape &shape) override {
    return inner.stream(shape);
  }
  Result<Event *> event(const Origin &origin) override {
    return inner.event(origin);
  }
  Result<const void *> load(const std::string &path) override {
    return inner.load(path);
  }
  Result<const Kernel *> kernel(const KernelShape &shape) override {
    return inner.kernel(shape);
  }
  Result<const LibraryOp *> prepare(const LibraryShape &shape) override {
    prepared.push_back({index(), shape});
    return inner.prepare(shape);
  }

  Result<Repeat *> repeat(std::vector<Stream *> streams) override {
    return inner.repeat(std::move(streams));
  }

  Result<Gate *> gate() override { return inner.gate(); }
  Status readAside(void *to, const void *from, uint64_t bytes) override {
    void *realTo = space.resolve(to, bytes);
    const void *realFrom = space.resolve(from, bytes);
    return realTo && realFrom
               ? inner.readAside(realTo, realFrom, bytes)
               : makeError(ErrorKind::internal,
                           "expected memory that a device reserved");
  }

  void launch(Stream &stream, const Launch &launch,
              const Origin &origin) override {
    std::vector<void *> buffers;
    for (uint32_t i = 0; i < launch.numBuffers; ++i) {
      buffers.push_back(space.resolve(launch.buffers[i], 0));
    }
    std::vector<int64_t> scalars(launch.scalars,
                                 launch.scalars + launch.numScalars);
    Launch real = launch;
    real.scratch = space.resolve(launch.scratch, 0);
    tape.add([this, &stream, &origin, real, buffers, scalars]() mutable {
      real.buffers = buffers.data();
      real.scalars = scalars.data();
      inner.launch(stream, real, origin);
    });
  }
  void call(Stream &stream, const LibraryOp &op, void *const *buffers,
            uint32_t numBuffers, void *workspace,
            const Origin &origin) override {
    std::vector<void *> real;
    for (uint32_t i = 0; i < numBuffers; ++i) {
      real.push_back(space.resolve(buffers[i], 0));
    }
    workspace = space.resolve(workspace, 0);
    tape.add([this, &stream, &op, &origin, real, workspace] {
      inner.call(stream, op, real.data(), static_cast<uint32_t>(real.size()),
                 workspace, origin);
    });
  }
  void copy(Stream &stream, void *to, const void *from, const CopyBox &box,
            const Origin &origin) override {
    void *realTo = space.resolve(to, spanOf(box, &CopyDim::to));
    const void *realFrom = space.resolve(from, spanOf(box, &CopyDim::from));
    if (!realTo || !realFrom) {
      refuse(origin);
      return;
    }
    tape.add([this, &stream, &box, &origin, realTo, realFrom] {
      inner.copy(stream, realTo, realFrom, box, origin);
    });
  }
  void fill(Stream &stream, void *to, uint64_t pattern, unsigned size,
            const CopyBox &box, const Origin &origin) override {
    void *real = space.resolve(to, spanOf(box, &CopyDim::to));
    if (!real) {
      refuse(origin);
      return;
    }
    tape.add([this, &stream, &box, &origin, real, pattern, size] {
      inner.fill(stream, real, pattern, size, box, origin);
    });
  }
  void record(Stream &stream, Event &event, const Origin &origin) override {
    tape.add(
        [=, &stream, &event, &origin] { inner.record(stream, event, origin); });
  }
  void wait(Stream &stream, Event &event, const Origin &origin) override {
    tape.add(
        [=, &stream, &event, &origin] { inner.wait(stream, event, origin); });
  }
  void waitFor(Stream &stream, Gate &gate, uint64_t value,
               const Origin &origin) override {
    tape.add([=, &stream, &gate, &origin] {
      inner.waitFor(stream, gate, value, origin);
    });
  }
  void beginRepeat(Repeat &repeat, const void *flag,
                   const Origin &origin) override {
    const void *real = space.resolve(flag, 1);
    if (!real) {
      refuse(origin);
      return;
    }
    tape.add(
        [=, &repeat, &origin] { inner.beginRepeat(repeat, real, origin); });
  }
  void endRepeat(Repeat &repeat, const Origin &origin) override {
    tape.add([=, &repeat, &origin] { inner.endRepeat(repeat, origin); });
  }

private:
  /// Ends the world, as a wrong address ends a CUDA context.
  void refuse(const Origin &origin) {
    anyone->abort(
        makeError(ErrorKind::internal,
                  fmt::format("expected memory that a device reserved in '{}'",
                              origin.name)));
  }

  Device &inner;
  AddressSpace &space;
  Tape &tape;
  Communicator *&anyone;
};

class OpaqueCommunicator final : public Communicator {
public:
  OpaqueCommunicator(Communicator &inner, AddressSpace &space, Tape &tape)
      : inner(inner), space(space), tape(tape) {}

  int rank() const override { return inner.rank(); }
  int size() const override { return inner.size(); }
  void collective(Stream &stream, const Collective &collective,
                  const void *const *from, void *const *to,
                  const Origin &origin) override {
    std::vector<const void *> ins;
    std::vector<void *> outs;
    for (size_t i = 0; i < collective.buffers.size(); ++i) {
      ins.push_back(space.resolve(from[i], 0));
      outs.push_back(space.resolve(to[i], 0));
    }
    if (traitsOf(collective.kind).takesCounts) {
      ins.push_back(space.resolve(from[ins.size()], 0));
    }
    tape.add([this, &stream, &collective, &origin, ins, outs] {
      inner.collective(stream, collective, ins.data(), outs.data(), origin);
    });
  }
  void abort(const Status &reason) override { inner.abort(reason); }
  CommunicatorCounts counts() const override { return inner.counts(); }

  Communicator &real() { return inner; }

private:
  Communicator &inner;
  AddressSpace &space;
  Tape &tape;
};

class OpaqueWorld final : public World {
public:
  static Result<std::unique_ptr<World>> make(std::unique_ptr<World> inner) {
    auto world = std::make_unique<OpaqueWorld>();
    world->inner = std::move(inner);
    for (int number : world->inner->local()) {
      world->devices.push_back(std::make_unique<OpaqueDevice>(
          world->inner->device(number), world->space, world->tape,
          world->anyone));
    }
    LLMC_TRY_ASSIGN(auto alone, world->inner->split({{0}}));
    world->anyone = alone.front();
    return std::unique_ptr<World>(std::move(world));
  }

  int size() const override { return inner->size(); }
  const std::vector<int> &local() const override { return inner->local(); }
  Device &device(int number) override {
    return *devices[static_cast<size_t>(number)];
  }
  Result<std::vector<Communicator *>>
  split(const std::vector<std::vector<int>> &groups) override {
    LLMC_TRY_ASSIGN(auto made, inner->split(groups));
    for (Communicator *&each : made) {
      if (each) {
        communicators.push_back(
            std::make_unique<OpaqueCommunicator>(*each, space, tape));
        each = communicators.back().get();
      }
    }
    return made;
  }
  void exchange(Stream &stream, const TransferPart *given, uint32_t numParts,
                const Origin &origin) override {
    std::vector<TransferPart> parts(given, given + numParts);
    for (TransferPart &part : parts) {
      part.communicator =
          &static_cast<OpaqueCommunicator *>(part.communicator)->real();
      part.buffer = space.resolve(part.buffer, part.bytes);
    }
    tape.add([this, &stream, &origin, parts] {
      inner->exchange(stream, parts.data(), static_cast<uint32_t>(parts.size()),
                      origin);
    });
  }
  bool beginStep(uint64_t key) override {
    inner->beginStep(key);
    return tape.begin(key);
  }
  Status submit() override {
    tape.replay();
    return inner->submit();
  }
  Status wait(std::chrono::milliseconds deadline) override {
    return inner->wait(deadline);
  }
  Status drain(std::chrono::milliseconds deadline) override {
    return inner->drain(deadline);
  }
  std::optional<double> exposedSeconds() const override {
    return inner->exposedSeconds();
  }
  OrderDigest order() const override { return inner->order(); }
  std::vector<TraceSpan> takeTrace() override { return inner->takeTrace(); }

private:
  AddressSpace space;
  Tape tape;
  std::unique_ptr<World> inner;
  Communicator *anyone = nullptr; ///< Ends the world after a wrong address.
  std::vector<std::unique_ptr<OpaqueDevice>> devices;
  std::vector<std::unique_ptr<OpaqueCommunicator>> communicators;
};

class OpaqueBackend final : public Backend {
public:
  std::string_view target() const override { return "opaque"; }
  std::string_view kernelTarget() const override { return "cpu"; }
  std::vector<std::string> features() const override {
    return (*findBackend("cpu"))->features();
  }
  Result<uint64_t> libraryWorkspace(const LibraryShape &shape) const override {
    return (*findBackend("cpu"))->libraryWorkspace(shape);
  }
  Result<std::unique_ptr<World>>
  makeWorld(const WorldOptions &options) const override {
    LLMC_TRY_ASSIGN(const Backend *cpu, findBackend("cpu"));
    LLMC_TRY_ASSIGN(auto inner, cpu->makeWorld(options));
    return OpaqueWorld::make(std::move(inner));
  }
};

BackendRegistration registration(std::make_unique<OpaqueBackend>());

} // namespace
} // namespace llmc::rt::test

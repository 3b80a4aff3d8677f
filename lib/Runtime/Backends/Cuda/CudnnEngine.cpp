//===- CudnnEngine.cpp - How cuDNN computes a graph -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by CudaConvolutionTest.cpp and CudaAttentionTest.cpp in
// test/Runtime/Backends/Cuda.
//
//===----------------------------------------------------------------------===//

#include "CudnnEngine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmc::rt::cuda {

using Attribute = CudnnAttribute;

CudnnData cudnnTypeOf(DType type) {
  switch (type) {
  case DType::f64:
    return CudnnData::f64;
  case DType::f16:
    return CudnnData::f16;
  case DType::bf16:
    return CudnnData::bf16;
  default:
    return CudnnData::f32;
  }
}

namespace {
struct Chooser {
  const Cudnn &cudnn;
  const CudnnPlace &place;
  const CudnnObject &graph;
  CudnnBounds bounds;

  Result<std::vector<CudnnObject>> askHeuristic(int mode) const;
  Result<bool> isWanted(const CudnnObject &config) const;
  Result<bool> makePlan(const CudnnObject &config, CudnnEngine &made) const;
};
} // namespace

/// Configurations of engines, the best first. That there are none is no error.
Result<std::vector<CudnnObject>> Chooser::askHeuristic(int mode) const {
  LLMC_TRY_ASSIGN(CudnnObject heuristic,
                  CudnnObject::make(cudnn, CudnnKind::engineHeuristic));
  LLMC_TRY(heuristic.set(Attribute::heuristicGraph, graph));
  LLMC_TRY(heuristic.set(Attribute::heuristicMode, CudnnType::heuristicMode, 1,
                         &mode));
  if (place.device) {
    LLMC_TRY(heuristic.set(Attribute::heuristicDevice, CudnnType::descriptor, 1,
                           &place.device));
  }
  std::vector<CudnnObject> configs;
  Status status = heuristic.finalize();
  if (!status.ok()) {
    return status.kind() == ErrorKind::mismatch
               ? Result<std::vector<CudnnObject>>(std::move(configs))
               : status;
  }
  int64_t count = 0;
  LLMC_TRY(cudnn.check(cudnn.cudnnBackendGetAttribute(
                           heuristic.get(), Attribute::heuristicResults,
                           CudnnType::descriptor, 0, &count, nullptr),
                       "cudnnBackendGetAttribute"));
  std::vector<CudnnDescriptor> handles;
  for (int64_t i = 0; i < count; ++i) {
    LLMC_TRY_ASSIGN(CudnnObject config,
                    CudnnObject::make(cudnn, CudnnKind::engineConfig));
    handles.push_back(config.get());
    configs.push_back(std::move(config));
  }
  LLMC_TRY(
      cudnn.check(cudnn.cudnnBackendGetAttribute(
                      heuristic.get(), Attribute::heuristicResults,
                      CudnnType::descriptor, count, &count, handles.data()),
                  "cudnnBackendGetAttribute"));
  configs.resize(std::min(configs.size(), static_cast<size_t>(count)));
  return configs;
}

/// By what the engine says of its numbers.
Result<bool> Chooser::isWanted(const CudnnObject &config) const {
  LLMC_TRY_ASSIGN(CudnnObject engine,
                  CudnnObject::make(cudnn, CudnnKind::engine));
  CudnnDescriptor handle = engine.get();
  int64_t count = 0;
  LLMC_TRY(cudnn.check(
      cudnn.cudnnBackendGetAttribute(config.get(), Attribute::configEngine,
                                     CudnnType::descriptor, 1, &count, &handle),
      "cudnnBackendGetAttribute"));
  constexpr int64_t mostNotes = 32;
  std::array<CudnnNote, mostNotes> notes{};
  LLMC_TRY(cudnn.check(
      cudnn.cudnnBackendGetAttribute(engine.get(), Attribute::engineNotes,
                                     CudnnType::numericalNote, mostNotes,
                                     &count, notes.data()),
      "cudnnBackendGetAttribute"));
  return std::all_of(notes.begin(), notes.begin() + std::min(count, mostNotes),
                     [&](CudnnNote note) {
                       return note == CudnnNote::strictNan ||
                              (note == CudnnNote::tensorCore &&
                               bounds.isNarrow);
                     });
}

/// Whether the configuration is one that this machine can run within the
/// workspace.
Result<bool> Chooser::makePlan(const CudnnObject &config,
                               CudnnEngine &made) const {
  LLMC_TRY_ASSIGN(CudnnObject plan,
                  CudnnObject::make(cudnn, CudnnKind::executionPlan));
  LLMC_TRY(plan.set(Attribute::planConfig, config));
  if (place.handle) {
    LLMC_TRY(
        plan.set(Attribute::planHandle, CudnnType::handle, 1, &place.handle));
  }
  if (place.device) {
    LLMC_TRY(plan.set(Attribute::planDevice, CudnnType::descriptor, 1,
                      &place.device));
  }
  Status status = plan.finalize();
  if (!status.ok()) {
    // An engine may fail on this machine for reasons of its own, such as a
    // kernel that is compiled now; the next one is tried.
    return status.kind() == ErrorKind::outOfMemory ? Result<bool>(status)
                                                   : false;
  }
  int64_t bytes = 0, count = 0;
  LLMC_TRY(cudnn.check(
      cudnn.cudnnBackendGetAttribute(plan.get(), Attribute::planWorkspace,
                                     CudnnType::int64, 1, &count, &bytes),
      "cudnnBackendGetAttribute"));
  if (bytes < 0 || static_cast<uint64_t>(bytes) > bounds.workspaceBytes) {
    return false;
  }
  made.plan = std::move(plan);
  made.workspaceBytes = bytes;
  return true;
}

Result<CudnnEngine> chooseEngine(const Cudnn &cudnn, const CudnnPlace &place,
                                 const CudnnObject &graph, CudnnBounds bounds,
                                 const std::string &what) {
  constexpr int modeA = 3, fallback = 2; // cudnnBackendHeurMode_t.
  Chooser chooser{cudnn, place, graph, bounds};
  size_t offered = 0;
  for (int mode : {modeA, fallback}) {
    LLMC_TRY_ASSIGN(std::vector<CudnnObject> configs,
                    chooser.askHeuristic(mode));
    offered += configs.size();
    for (const CudnnObject &config : configs) {
      CudnnEngine made;
      LLMC_TRY_ASSIGN(bool isGood, chooser.isWanted(config));
      if (isGood) {
        LLMC_TRY_ASSIGN(isGood, chooser.makePlan(config, made));
      }
      if (isGood) {
        return made;
      }
    }
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected an engine of cuDNN {} that computes "
                               "{} in one order, in its own type, with {} "
                               "bytes of workspace, got none among {}",
                               cudnn.cudnnGetVersion(), what,
                               bounds.workspaceBytes, offered))
      .withHint("compile the plan without '+cudnn'");
}

} // namespace llmc::rt::cuda

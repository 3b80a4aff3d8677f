//===- CheckpointFolder.h - Checkpoints of one run --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out/.lock                      held by the run that writes here
//   out/.writing-step-00000030     not a checkpoint: its run was killed
//   out/step-00000020/manifest.json
//                     process-00000.safetensors …
//
// A checkpoint is written under another name, synced and renamed, so under its
// own name it is whole. The order of checkpoints is that of their steps; no
// clock is asked.
//
// Test: test/Runtime/Checkpoint/CheckpointFolderTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define LLMC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "llmc/Runtime/Checkpoint/FileCalls.h"
#include "llmc/Runtime/Checkpoint/Manifest.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmc::rt {

/// "step-00000020"
std::string checkpointName(int64_t step);
/// The step of such a name; absent for any other.
std::optional<int64_t> stepOfName(const std::string &name);
/// Where a checkpoint of this step is written, before it has its name.
std::string writingPath(const std::string &folder, int64_t step);
/// "process-00000.safetensors"
std::string boxFileName(int process);

/// Names of the checkpoints in a folder, the newest first; empty where there is
/// no such folder. Error (14): it cannot be read.
Result<std::vector<std::string>> listCheckpoints(const std::string &folder);

/// The manifest of a checkpoint. Errors (3).
Result<CheckpointManifest> readManifest(const std::string &checkpoint);
/// Whether file `index` of a manifest is there, whole and unchanged (3).
Status checkFile(const std::string &checkpoint, const CheckpointManifest &,
                 size_t index);

/// Says why a checkpoint was passed over.
using PassedOver =
    std::function<void(const std::string &checkpoint, const Status &why)>;
/// The newest whole checkpoint of a folder, which this process alone reads.
/// Error (14): there is none.
Result<std::string> findNewest(const std::string &folder,
                               const PassedOver &passedOver);

/// Whose checkpoints lie in a folder: one run's, while this lives.
class CheckpointFolder {
public:
  /// Makes the folder, takes the lock, removes what killed runs have left.
  /// Errors (14): another run holds it (the line names it), it cannot be
  /// written.
  static Result<CheckpointFolder> open(const std::string &path,
                                       FileCalls &calls);
  CheckpointFolder(CheckpointFolder &&other) noexcept;
  CheckpointFolder &operator=(CheckpointFolder &&) = delete;
  ~CheckpointFolder();

  const std::string &path() const { return folder; }
  /// Makes that folder anew.
  Status begin(int64_t step);
  /// Writes the manifest, syncs, and gives the checkpoint its name.
  Status commit(const CheckpointManifest &manifest);
  /// Removes checkpoints before those of the last `keep` steps, up to `step`;
  /// 0 keeps all. The one of the least `best`, a metric, stays; "": none does.
  Status prune(int64_t step, int64_t keep, const std::string &best);
  /// Removes what `begin` made.
  void abandon(int64_t step);

private:
  CheckpointFolder(std::string folder, int lock, FileCalls &calls)
      : folder(std::move(folder)), lock(lock), calls(&calls) {}
  Status removeLeftovers();
  std::optional<std::string> findBest(const std::vector<std::string> &names,
                                      const std::string &best) const;

  std::string folder;
  int lock;
  FileCalls *calls;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

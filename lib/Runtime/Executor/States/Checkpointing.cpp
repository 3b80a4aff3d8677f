//===- Checkpointing.cpp - When a run writes checkpoints ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Checkpointing.h"

#include "llmc/Runtime/Base/Version.h"
#include "llmc/Runtime/Executor/RunLoop.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace llmc::rt {

namespace {
using Clock = std::chrono::steady_clock;

/// How often: by steps, by minutes, or (both 0) never.
struct Interval {
  int64_t steps = 0, minutes = 0;
};

Result<Interval> parseInterval(const std::string &text) {
  Interval interval;
  if (text.empty()) {
    return interval;
  }
  bool isMinutes = text.back() == 'm';
  int64_t number = 0;
  const char *end = text.data() + text.size() - isMinutes;
  auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || rest != end || number < 1) {
    return makeError(ErrorKind::usage,
                     fmt::format("--checkpoint-every: expected a number of "
                                 "steps, as 100, or of minutes, as 10m, got "
                                 "'{}'",
                                 text));
  }
  (isMinutes ? interval.minutes : interval.steps) = number;
  return interval;
}

/// One that is being written.
struct Writing {
  CheckpointManifest manifest;
  std::unique_ptr<BoxFileWriter> file;
  /// In the background: what gives the file its boxes.
  std::shared_ptr<BoxReading> reading;
  Clock::time_point begin;
  double stall = 0; ///< Seconds for which the run stood still.

  ~Writing() {
    if (reading) {
      reading->stop();
    }
  }
  bool isDone() const {
    return reading
               ? reading->isDone() && (!reading->wait().ok() || file->isDone())
               : file->isDone();
  }
};

class RunCheckpoints final : public Checkpointing {
public:
  RunCheckpoints(const CheckpointOptions &options, Interval interval,
                 std::shared_ptr<Transport> transport)
      : options(options), interval(interval), meeting(std::move(transport)),
        calls(options.calls ? *options.calls : systemCalls()) {}
  ~RunCheckpoints() override;

  Status openFolder();
  int64_t firstStep() const override { return resumed ? resumed->step : 0; }
  std::optional<uint64_t> seed() const override {
    return resumed ? resumed->seed : options.seed;
  }
  bool isResumed() const override { return resumed.has_value(); }
  std::string describeResumed() const override {
    return resumed
               ? fmt::format("resumed: {}/{}, written on {}\n", options.folder,
                             checkpointName(resumed->step), resumed->mesh)
               : "";
  }
  Status begin(Session &session, const std::string &entry) override;
  Result<int64_t> rollBack(Session &session, int64_t most) override;
  bool isDueAt(int64_t step) const override {
    return interval.steps && step % interval.steps == 0 && !has(step);
  }
  bool isTimeUp() const override {
    return interval.minutes &&
           Clock::now() - last >= std::chrono::minutes(interval.minutes);
  }
  bool has(int64_t step) const override { return step == lastStep; }
  Result<std::string> write(Session &session, int64_t step) override;
  bool isWritten() const override { return !writing || writing->isDone(); }
  Result<std::string> finish() override;
  WrittenCheckpoint lastWritten() const override { return done; }

private:
  Result<std::vector<std::string>> listAll();
  Result<std::optional<CheckpointManifest>>
  findWhole(const std::vector<std::string> &names);
  Status findResumed(const std::vector<std::string> &names);
  Status usable(const std::string &checkpoint, CheckpointManifest &manifest);
  Status checkBest(const plan::Plan &plan) const;
  Status writeBoxes(Session &session, int64_t step);
  Result<CheckpointFile> finishFile();
  CheckpointManifest describe(const Session &session, int64_t step) const;

  CheckpointOptions options;
  Interval interval;
  Meeting meeting;
  FileCalls &calls;
  std::optional<CheckpointFolder> folder; ///< Of process 0.
  std::optional<CheckpointManifest> resumed;
  std::optional<StoredTensors> stored;
  std::string entry, header;
  int64_t lastStep = 0; ///< Of the last checkpoint; the start counts as one.
  Clock::time_point last = Clock::now();
  std::optional<Writing> writing;
  WrittenCheckpoint done;
};

std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Nothing of what was not finished stays.
RunCheckpoints::~RunCheckpoints() {
  if (writing) {
    int64_t step = writing->manifest.step;
    writing.reset();
    if (folder) {
      folder->abandon(step);
    }
  }
}

/// Those that process 0 sees, the newest first.
Result<std::vector<std::string>> RunCheckpoints::listAll() {
  Result<std::string> found = std::string();
  if (meeting.speaks()) {
    Result<std::vector<std::string>> names = listCheckpoints(options.folder);
    found =
        names ? Result<std::string>(fmt::format("{}", fmt::join(*names, "\n")) +
                                    (names->empty() ? "" : "\n"))
              : names.status();
  }
  LLMC_TRY_ASSIGN(std::string text, meeting.fromFirst(found));
  return splitLines(text);
}

Status RunCheckpoints::openFolder() {
  Status opened;
  if (meeting.speaks()) {
    Result<CheckpointFolder> own =
        CheckpointFolder::open(options.folder, calls);
    opened = own.status();
    if (own) {
      folder.emplace(*std::move(own));
    }
  }
  LLMC_TRY(meeting.agree(opened));
  LLMC_TRY_ASSIGN(std::vector<std::string> names, listAll());
  if (!options.resume && !names.empty()) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected a folder without checkpoints for a "
                                 "run from the start, got one with {}",
                                 names.front()))
        .at(options.folder)
        .withHint("add --resume, or give another folder");
  }
  return options.resume ? findResumed(names) : Status::success();
}

/// Each process checks some of the files, and opens all.
Status RunCheckpoints::usable(const std::string &checkpoint,
                              CheckpointManifest &manifest) {
  LLMC_TRY_ASSIGN(manifest, readManifest(checkpoint));
  auto size = static_cast<size_t>(meeting.size());
  for (auto i = static_cast<size_t>(meeting.own()); i < manifest.files.size();
       i += size) {
    LLMC_TRY(checkFile(checkpoint, manifest, i));
  }
  LLMC_TRY_ASSIGN(stored, StoredTensors::open(checkpoint, manifest));
  return Status::success();
}

/// The first of these that all processes can use; its states are in `stored`.
Result<std::optional<CheckpointManifest>>
RunCheckpoints::findWhole(const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    std::string checkpoint = options.folder + "/" + name;
    CheckpointManifest manifest;
    Status status = meeting.agree(usable(checkpoint, manifest));
    if (status.ok()) {
      return std::optional(std::move(manifest));
    }
    if (status.kind() == ErrorKind::peerLost) {
      return status;
    }
    if (meeting.speaks()) {
      fmt::print(stderr, "checkpoint {} passed over: {}\n", checkpoint,
                 rt::describe(status.error()));
    }
  }
  return std::optional<CheckpointManifest>();
}

Status RunCheckpoints::findResumed(const std::vector<std::string> &names) {
  LLMC_TRY_ASSIGN(resumed, findWhole(names));
  lastStep = firstStep();
  if (!resumed && !options.mayBegin) {
    return makeError(ErrorKind::noCheckpoint,
                     fmt::format("expected a whole checkpoint to resume from, "
                                 "got {}",
                                 names.empty() ? "none" : "damaged ones only"))
        .at(options.folder)
        .withHint("leave --resume out, with another folder, to begin anew");
  }
  if (resumed && options.seed && *options.seed != resumed->seed) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected seed {}, that of the checkpoint, "
                                 "got --seed {}",
                                 resumed->seed, *options.seed));
  }
  return Status::success();
}

/// A metric of that name is one that steps give.
Status RunCheckpoints::checkBest(const plan::Plan &plan) const {
  std::string names;
  for (const plan::Entry &each : plan.entries) {
    for (const plan::Metric &metric : each.metrics) {
      if (each.name == entry && metric.name == options.best) {
        return Status::success();
      }
      names +=
          each.name == entry ? (names.empty() ? "" : ", ") + metric.name : "";
    }
  }
  return options.best.empty()
             ? Status::success()
             : makeError(ErrorKind::usage,
                         fmt::format("--checkpoint-best: expected a metric of "
                                     "entry '{}', which are {}, got '{}'",
                                     entry, names.empty() ? "none" : names,
                                     options.best));
}

Status RunCheckpoints::begin(Session &session, const std::string &name) {
  entry = name;
  for (const plan::Entry &each : session.plan().entries) {
    if (each.name == name && each.kind != plan::EntryKind::train) {
      return makeError(ErrorKind::usage,
                       fmt::format("--checkpoint: expected an entry that "
                                   "trains, got '{}', which changes no state",
                                   name));
    }
  }
  LLMC_TRY(checkBest(session.plan()));
  if (options.background) {
    LLMC_TRY(meeting.agree(session.guardStates()));
  }
  LLMC_TRY_ASSIGN(std::vector<TensorBox> boxes, session.ownedBoxes());
  Result<std::string> printed = printBoxHeader(boxes);
  LLMC_TRY(meeting.agree(printed.status()));
  header = *std::move(printed);
  if (stored) {
    LLMC_TRY(meeting.agree(session.restore(*stored)));
    stored.reset();
    session.leaveOut(resumed->leftOut);
  }
  last = Clock::now();
  return Status::success();
}

Result<int64_t> RunCheckpoints::rollBack(Session &session, int64_t most) {
  LLMC_TRY_ASSIGN(std::vector<std::string> names, listAll());
  auto isLater = [&](const std::string &name) {
    return stepOfName(name).value_or(0) > most;
  };
  names.erase(std::remove_if(names.begin(), names.end(), isLater), names.end());
  LLMC_TRY_ASSIGN(std::optional<CheckpointManifest> found, findWhole(names));
  if (!found) {
    return makeError(ErrorKind::noCheckpoint,
                     fmt::format("expected a whole checkpoint of at most {} "
                                 "steps to go back to, got none",
                                 most))
        .at(options.folder)
        .withHint("--checkpoint-every writes them more often, "
                  "--checkpoint-keep keeps more");
  }
  LLMC_TRY(meeting.agree(session.restore(*stored)));
  stored.reset();
  last = Clock::now();
  return lastStep = found->step;
}

CheckpointManifest RunCheckpoints::describe(const Session &session,
                                            int64_t step) const {
  CheckpointManifest manifest;
  manifest.step = step;
  manifest.entry = entry;
  manifest.seed = session.seed();
  manifest.leftOut = session.leftOut();
  const plan::Plan &plan = session.plan();
  for (const MeshAxis &axis : plan.mesh.axes) {
    manifest.mesh += fmt::format("{}{}={}", manifest.mesh.empty() ? "" : ",",
                                 axis.name, axis.size);
  }
  manifest.plan = options.planHash;
  manifest.version = version;
  for (const NamedValue &metric : session.metrics()) {
    manifest.metrics[std::string(metric.name)] = metric.value;
  }
  for (const plan::State &state : plan.states) {
    manifest.tensors.push_back({state.name, state.dtype, state.shape,
                                std::string(nameOf(state.role)), state.of});
  }
  return manifest;
}

Status RunCheckpoints::writeBoxes(Session &session, int64_t step) {
  std::string path =
      writingPath(options.folder, step) + "/" + boxFileName(meeting.own());
  LLMC_TRY_ASSIGN(writing->file, BoxFileWriter::create(
                                     calls, path, header,
                                     options.background ? options.memory : 0));
  BoxFileWriter *file = writing->file.get();
  BoxSink sink{[file](const std::byte *values, size_t bytes) {
                 return file->append(values, bytes);
               },
               [file] { return file->close(); }};
  if (options.background) {
    LLMC_TRY_ASSIGN(writing->reading, session.readBoxesAside(std::move(sink)));
    return Status::success();
  }
  LLMC_TRY(session.readBoxes(sink.append));
  return sink.close();
}

/// Of this process: the size and the checksum of its file.
Result<CheckpointFile> RunCheckpoints::finishFile() {
  if (writing->reading) {
    LLMC_TRY(writing->reading->wait());
  }
  return writing->file->finish();
}

Result<std::string> RunCheckpoints::write(Session &session, int64_t step) {
  LLMC_TRY_ASSIGN(std::string before, finish());
  writing.emplace();
  writing->begin = Clock::now();
  writing->manifest = describe(session, step);
  LLMC_TRY(meeting.agree(folder ? folder->begin(step) : Status::success()));
  LLMC_TRY(meeting.agree(writeBoxes(session, step)));
  std::chrono::duration<double> stall = Clock::now() - writing->begin;
  writing->stall = stall.count();
  lastStep = step;
  last = Clock::now();
  if (options.background) {
    return before;
  }
  LLMC_TRY_ASSIGN(std::string now, finish());
  return before + now;
}

/// The sizes and checksums of all files go to process 0, which gives the
/// checkpoint its name.
Result<std::string> RunCheckpoints::finish() {
  if (!writing) {
    return std::string();
  }
  Result<CheckpointFile> own = finishFile();
  LLMC_TRY(meeting.agree(own.status()));
  std::string row(reinterpret_cast<const char *>(&own->bytes),
                  sizeof(uint64_t));
  row.append(reinterpret_cast<const char *>(&own->hash), sizeof(uint64_t));
  LLMC_TRY_ASSIGN(std::vector<std::string> rows, meeting.gather(row));
  CheckpointManifest &manifest = writing->manifest;
  uint64_t bytes = 0;
  for (size_t process = 0; process < rows.size(); ++process) {
    CheckpointFile file;
    file.name = boxFileName(static_cast<int>(process));
    std::memcpy(&file.bytes, rows[process].data(), sizeof(uint64_t));
    std::memcpy(&file.hash, rows[process].data() + sizeof(uint64_t),
                sizeof(uint64_t));
    bytes += file.bytes;
    manifest.files.push_back(std::move(file));
  }
  Status named;
  if (folder) {
    named = folder->commit(manifest);
    if (named.ok()) {
      named = folder->prune(manifest.step, options.keep, options.best);
    }
  }
  LLMC_TRY(meeting.agree(named));
  std::chrono::duration<double> seconds = Clock::now() - writing->begin;
  done = {manifest.step,
          fmt::format("{}/{}", options.folder, checkpointName(manifest.step)),
          bytes,
          seconds.count(),
          options.background ? writing->stall : seconds.count(),
          writing->reading ? writing->reading->stoodSeconds() : 0};
  writing.reset();
  return fmt::format(
      "checkpoint: {}  {} in {:.2f} s, {:.2f} s of it between steps{}\n",
      done.path, printBytes(done.bytes), done.seconds, done.stall,
      options.background
          ? fmt::format(", {:.2f} s in which an update waited", done.waited)
          : "");
}
} // namespace

Status checkOptions(const CheckpointOptions &options) {
  LLMC_TRY(parseInterval(options.every).status());
  if (options.keep < 0) {
    return makeError(ErrorKind::usage,
                     fmt::format("--checkpoint-keep: expected a number of "
                                 "checkpoints, or 0 for all, got {}",
                                 options.keep));
  }
  const char *alone = !options.every.empty()  ? "--checkpoint-every"
                      : options.resume        ? "--resume"
                      : options.background    ? "--checkpoint-background"
                      : !options.best.empty() ? "--checkpoint-best"
                                              : nullptr;
  if (options.folder.empty() && alone) {
    return makeError(
        ErrorKind::usage,
        fmt::format("{}: expected --checkpoint <folder> too", alone));
  }
  return Status::success();
}

Result<std::unique_ptr<Checkpointing>>
Checkpointing::open(const CheckpointOptions &options,
                    std::shared_ptr<Transport> transport) {
  LLMC_TRY(checkOptions(options));
  LLMC_TRY_ASSIGN(Interval interval, parseInterval(options.every));
  auto run =
      std::make_unique<RunCheckpoints>(options, interval, std::move(transport));
  LLMC_TRY(run->openFolder());
  return std::unique_ptr<Checkpointing>(std::move(run));
}

} // namespace llmc::rt

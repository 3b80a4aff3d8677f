//===- DeviceLayouts.cpp - A file's configuration of devices --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/Onnx/devices.test
//===----------------------------------------------------------------------===//

#include "DeviceLayouts.h"
#include "llmc/Import/Program/DeviceRuns.h"
#include "llmc/Runtime/Base/Log.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
using import::DeviceRun;
using import::DeviceRuns;
using import::MeshAxes;
using rt::ErrorKind;

/// Devices have numbers below this.
static constexpr int64_t kMostDevices = int64_t(1) << 20;

namespace {
/// The runs that split each dimension of a tensor, major to minor.
using Splits = std::vector<DeviceRuns>;

class DeviceLayouts {
public:
  DeviceLayouts(const Model &model, const std::string &file,
                const MeshAxes &given, func::FuncOp main,
                llvm::function_ref<Value(std::string_view)> find)
      : model(model), file(file), given(given), main(main), find(find) {}

  rt::Status run();

private:
  rt::Result<const DeviceConfiguration *> choose();
  rt::Status collect(const ShardingSpec &spec);
  rt::Result<std::vector<int64_t>> findShards(const ShardingSpec &spec,
                                              int64_t numShards);
  rt::Result<Splits> findSplits(const ShardingSpec &spec, int64_t rank);
  rt::Result<DeviceRuns> findPart(ArrayRef<int64_t> shards, int64_t below,
                                  int64_t count, const ShardingSpec &spec);
  rt::Status makeAxes();
  void annotate(Value value, const Splits &splits);
  void warn(const std::string &message) {
    rt::log(rt::LogLevel::warning, file + ": " + message);
  }
  rt::Status refuse(const ShardingSpec &spec, ErrorKind kind,
                    const std::string &message) {
    return rt::makeError(kind, "sharding of tensor '" +
                                   std::string(spec.tensor) + "': " + message);
  }

  const Model &model;
  const std::string &file;
  const MeshAxes &given;
  func::FuncOp main;
  llvm::function_ref<Value(std::string_view)> find;
  int64_t numDevices = 1;
  MeshAxes axes;
  std::vector<std::pair<Value, Splits>> found;
  llvm::SmallDenseMap<Value, const ShardingSpec *> first;
};
} // namespace

/// The configuration for as many devices as the mesh has, or the first; null
/// where nothing is split.
rt::Result<const DeviceConfiguration *> DeviceLayouts::choose() {
  const DeviceConfiguration *none = nullptr;
  if (model.configurations.empty())
    return none;
  int64_t wanted = import::countDevices(given);
  for (const DeviceConfiguration &configuration : model.configurations)
    if (given.empty() || configuration.numDevices == wanted)
      return &configuration;
  if (wanted == 1)
    return none;
  const DeviceConfiguration &configuration = model.configurations.front();
  return rt::makeError(
             ErrorKind::usage,
             "expected a mesh of as many devices as a device configuration of "
             "the file has (" +
                 std::string(configuration.name) + ": " +
                 std::to_string(configuration.numDevices) + "), got " +
                 std::to_string(wanted))
      .withHint("give axes and sizes by [mesh] and --mesh whose product is " +
                std::to_string(configuration.numDevices));
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// The shard of each device.
rt::Result<std::vector<int64_t>>
DeviceLayouts::findShards(const ShardingSpec &spec, int64_t numShards) {
  if (static_cast<int64_t>(spec.devices.size()) != numShards)
    return refuse(spec, ErrorKind::malformed,
                  "expected a device or group for each of " +
                      std::to_string(numShards) + " shards, got " +
                      std::to_string(spec.devices.size()));
  std::vector<int64_t> shards(numDevices, -1);
  auto put = [&](int64_t device, int64_t shard) {
    if (device < 0 || device >= numDevices || shards[device] >= 0)
      return refuse(spec, ErrorKind::malformed,
                    "expected each of the devices 0 ... " +
                        std::to_string(numDevices - 1) + " once, got " +
                        std::to_string(device));
    shards[device] = shard;
    return rt::Status::success();
  };
  for (int64_t shard = 0; shard < numShards; ++shard) {
    int64_t device = spec.devices[shard];
    auto group = spec.groups.find(device);
    if (group == spec.groups.end()) {
      LLMC_TRY(put(device, shard));
      continue;
    }
    for (int64_t member : group->second)
      LLMC_TRY(put(member, shard));
  }
  if (llvm::is_contained(shards, -1))
    return refuse(spec, ErrorKind::unsupported,
                  "expected parts on all " + std::to_string(numDevices) +
                      " devices of the configuration, got fewer");
  return shards;
}

/// The digits of a device's number that are digit (shard / below % count).
rt::Result<DeviceRuns> DeviceLayouts::findPart(ArrayRef<int64_t> shards,
                                               int64_t below, int64_t count,
                                               const ShardingSpec &spec) {
  auto parts = llvm::map_to_vector(
      shards, [&](int64_t shard) { return shard / below % count; });
  if (std::optional<DeviceRuns> runs = import::findRuns(parts, count))
    return *runs;
  return refuse(spec, ErrorKind::unsupported,
                "expected shards that follow the order of the devices' "
                "numbers, as on a mesh, got another order");
}

/// Parts of a dimension after one that is not cut into single elements would
/// be cut each by itself, which no layout says.
static bool isOneList(const ShardedDim &dim) {
  for (size_t i = 1; i < dim.parts.size(); ++i) {
    const ShardedDim::Part &before = dim.parts[i - 1];
    if (dim.parts[i].shards > 1 && before.size != before.shards)
      return false;
  }
  return true;
}

rt::Result<Splits> DeviceLayouts::findSplits(const ShardingSpec &spec,
                                             int64_t rank) {
  int64_t numShards = 1;
  for (const ShardedDim &dim : spec.dims) {
    if (!isOneList(dim))
      return refuse(spec, ErrorKind::unsupported,
                    "expected shards of the major part of a dimension");
    for (const ShardedDim::Part &part : dim.parts) {
      if (part.shards < 1 || part.shards > kMostDevices)
        return refuse(spec, ErrorKind::malformed,
                      "expected at least 1 shard, got " +
                          std::to_string(part.shards));
      numShards = std::min(numShards * part.shards, kMostDevices + 1);
    }
  }
  LLMC_TRY_ASSIGN(std::vector<int64_t> shards, findShards(spec, numShards));
  Splits splits(rank);
  int64_t below = numShards;
  for (const ShardedDim &dim : spec.dims) {
    int64_t axis = dim.axis < 0 ? dim.axis + rank : dim.axis;
    if (axis < 0 || axis >= rank)
      return refuse(spec, ErrorKind::malformed,
                    "expected an axis of a tensor of rank " +
                        std::to_string(rank) + ", got " +
                        std::to_string(dim.axis));
    for (const ShardedDim::Part &part : dim.parts) {
      below /= part.shards;
      LLMC_TRY_ASSIGN(DeviceRuns runs,
                      findPart(shards, below, part.shards, spec));
      splits[axis].append(runs);
    }
  }
  return splits;
}

static bool isSame(const ShardingSpec &a, const ShardingSpec &b) {
  auto tie = [](const ShardedDim::Part &part) { return part.shards; };
  return a.devices == b.devices && a.groups == b.groups &&
         llvm::equal(a.dims, b.dims, [&](const auto &x, const auto &y) {
           return x.axis == y.axis &&
                  llvm::equal(x.parts, y.parts, [&](auto &p, auto &q) {
                    return tie(p) == tie(q);
                  });
         });
}

rt::Status DeviceLayouts::collect(const ShardingSpec &spec) {
  Value value = find(spec.tensor);
  if (!value)
    return rt::Status::success();
  auto [known, isNew] = first.try_emplace(value, &spec);
  if (!isNew) {
    if (!isSame(*known->second, spec))
      warn("tensor '" + std::string(spec.tensor) +
           "' has several shardings: the first one counts");
    return rt::Status::success();
  }
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  LLMC_TRY_ASSIGN(Splits splits, findSplits(spec, rank));
  found.emplace_back(value, std::move(splits));
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Those that are given, or those by which the splits cut the devices.
rt::Status DeviceLayouts::makeAxes() {
  DeviceRuns runs;
  for (const auto &[value, splits] : found)
    for (const DeviceRuns &dim : splits)
      runs.append(dim);
  auto sizes = import::cutDevices(numDevices, runs);
  if (!sizes)
    return rt::makeError(ErrorKind::unsupported,
                         "expected shardings that follow the axes of one "
                         "mesh, got some that do not fit together");
  axes = given;
  if (given.empty())
    for (auto [number, size] : llvm::enumerate(*sizes))
      axes.emplace_back("devices" + std::to_string(number), size);
  for (const DeviceRun &run : runs)
    if (!import::findParts(axes, run))
      return rt::makeError(ErrorKind::usage,
                           "expected a mesh that cuts the devices where the "
                           "file's shardings do, got " +
                               import::showMesh(axes))
          .withHint("axes of sizes " + import::showSizes(*sizes) +
                    " would do, in this order");
  return rt::Status::success();
}

void DeviceLayouts::annotate(Value value, const Splits &splits) {
  MLIRContext *context = main.getContext();
  SmallVector<sdy::MeshAxisAttr> sizes;
  for (const auto &[axis, size] : axes)
    sizes.push_back(sdy::MeshAxisAttr::get(context, axis, size));
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (const DeviceRuns &runs : splits) {
    SmallVector<sdy::AxisRefAttr> list;
    for (const DeviceRun &run : runs) {
      std::vector<import::AxisPart> parts = *import::findParts(axes, run);
      for (const import::AxisPart &part : parts)
        list.push_back(import::makeAxisRef(context, part));
    }
    dims.push_back(sdy::DimensionShardingAttr::get(context, list,
                                                   /*isClosed=*/true, {}));
  }
  auto sharding = sdy::TensorShardingAttr::get(
      context, sdy::MeshAttr::get(context, sizes, {}), dims, {}, {});
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    main.setArgAttr(argument.getArgNumber(), import::kSharding, sharding);
    return;
  }
  OpBuilder builder(context);
  builder.setInsertionPointAfterValue(value);
  auto constraint = sdy::ShardingConstraintOp::create(
      builder, value.getLoc(), value.getType(), value, sharding);
  value.replaceAllUsesExcept(constraint, constraint);
}

rt::Status DeviceLayouts::run() {
  LLMC_TRY_ASSIGN(const DeviceConfiguration *configuration, choose());
  if (!configuration)
    return rt::Status::success();
  numDevices = configuration->numDevices;
  if (numDevices < 1 || numDevices > kMostDevices)
    return rt::makeError(ErrorKind::malformed,
                         "expected a device configuration of 1 to 2^20 "
                         "devices, got " +
                             std::to_string(numDevices));
  bool hasStages = false;
  for (const Node &node : model.graph.nodes)
    for (const NodeConfiguration &part : node.configurations) {
      if (part.configuration != configuration->name)
        continue;
      hasStages |= part.stage.value_or(0) != 0;
      for (const ShardingSpec &spec : part.specs)
        LLMC_TRY(collect(spec));
    }
  if (hasStages)
    warn("pipeline stages of nodes are not read: stages follow from the blocks "
         "of the model ([mesh] pipeline)");
  if (numDevices == 1)
    return rt::Status::success();
  LLMC_TRY(makeAxes());
  for (const auto &[value, splits] : found)
    annotate(value, splits);
  return rt::Status::success();
}

rt::Status
onnx::annotateDevices(const Model &model, const std::string &file,
                      const MeshAxes &mesh, func::FuncOp main,
                      llvm::function_ref<Value(std::string_view)> find) {
  return DeviceLayouts(model, file, mesh, main, find).run();
}

//===- HloMesh.cpp - XLA's shardings on the axes of a mesh ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   <"data"=2, "tensor"=2>, {devices=[1,2,2]<=[2,2]T(1,0)
//                            last_tile_dim_replicate}
//   -> devices 0 2 1 3 have the tiles 0 0 1 1, so a device's tile is the digit
//      of stride 1 of its number: #sdy.sharding<mesh, [{}, {"tensor"}]>
//
//===----------------------------------------------------------------------===//

#include "HloMesh.h"
#include "llmc/Support/FirstError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;
using Subgroup = HloSharding::Subgroup;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Of each device the number of its tile along one of the dimensions.
static SmallVector<int64_t> getParts(const HloSharding &sharding, size_t tile) {
  int64_t minor = 1;
  for (int64_t size : ArrayRef(sharding.tiles).drop_front(tile + 1))
    minor *= size;
  SmallVector<int64_t> parts(sharding.devices.size());
  for (auto [place, device] : llvm::enumerate(sharding.devices))
    parts[device] = place / minor % sharding.tiles[tile];
  return parts;
}

/// What a subgroup is; devices of one that is replicated have no order.
static std::optional<Subgroup> getSubgroup(const HloSharding &sharding,
                                           size_t tile) {
  size_t first = sharding.getNumDims();
  if (tile < first)
    return std::nullopt;
  return sharding.subgroups[tile - first];
}

rt::Status HloMesh::add(Attribute attribute, Location loc) {
  auto refuse = [&](ErrorKind kind, const std::string &message) {
    return rt::makeError(kind, describePlace(loc) + message);
  };
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  if (!text)
    return refuse(ErrorKind::malformed,
                  "expected a string as '" + kHloSharding.str() + "'");
  if (texts.contains(text))
    return rt::Status::success();
  auto parsed = parseHloShardings(text);
  if (!parsed)
    return refuse(parsed.kind(), parsed.message());
  std::vector<Known> &known = texts[text];
  for (HloSharding &sharding : *parsed) {
    Known &made = known.emplace_back();
    auto devices = static_cast<int64_t>(sharding.devices.size());
    if (devices > 1 && numDevices > 1 && devices != numDevices)
      return refuse(ErrorKind::unsupported,
                    "expected shardings over one number of devices, got '" +
                        example.str() + "' and '" + text.str() + "'");
    if (devices > 1 && numDevices == 1) {
      numDevices = devices;
      example = text;
    }
    for (size_t tile = 0; tile < sharding.tiles.size(); ++tile) {
      made.runs.emplace_back();
      if (getSubgroup(sharding, tile) == Subgroup::Replicated)
        continue;
      auto runs = findRuns(getParts(sharding, tile), sharding.tiles[tile]);
      if (!runs)
        return refuse(ErrorKind::unsupported,
                      "expected tiles that follow the order of the devices' "
                      "numbers, as on a mesh, got '" +
                          text.str() + "'");
      made.runs.back() = *runs;
    }
    made.sharding = std::move(sharding);
  }
  return rt::Status::success();
}

rt::Status HloMesh::collect(ModuleOp module) {
  rt::Status status;
  auto read = [&](Attribute attribute, Location loc) {
    if (attribute && status.ok())
      status = add(attribute, loc);
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    read(op->getDiscardableAttr(kHloSharding), op->getLoc());
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      read(function.getArgAttr(i, kHloSharding), op->getLoc());
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      read(function.getResultAttr(i, kHloSharding), op->getLoc());
  });
  return status;
}

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

sdy::MeshAttr HloMesh::makeMesh(const MeshAxes &from,
                                ArrayRef<int64_t> ids) const {
  SmallVector<sdy::MeshAxisAttr> sizes;
  for (const auto &[axis, size] : from)
    sizes.push_back(sdy::MeshAxisAttr::get(context, axis, size));
  return sdy::MeshAttr::get(context, sizes, ids);
}

/// Each run is some axes and parts of such; of manual ones, whole axes.
rt::Status HloMesh::checkRuns(StringRef hint) {
  auto check = [&](StringRef text, const Known &known, size_t tile) {
    bool isManual = getSubgroup(known.sharding, tile) == Subgroup::Manual;
    for (const DeviceRun &run : known.runs[tile]) {
      auto parts = findParts(axes, run);
      if (!parts || (isManual && llvm::any_of(*parts, [](const AxisPart &part) {
                       return part.size > 0;
                     })))
        return rt::makeError(ErrorKind::usage,
                             "expected a mesh whose axes cut the devices as "
                             "'" +
                                 text.str() + "' does, got " + showMesh(axes))
            .withHint(hint);
    }
    return rt::Status::success();
  };
  for (const auto &[text, list] : texts)
    for (const Known &known : list)
      for (size_t tile = 0; tile < known.runs.size(); ++tile)
        LLMC_TRY(check(text, known, tile));
  return rt::Status::success();
}

/// The axes are those of the strings' devices, or get their sizes.
rt::Status HloMesh::fitSizes() {
  DeviceRuns all;
  for (const auto &[text, list] : texts)
    for (const Known &known : list)
      for (const DeviceRuns &runs : known.runs)
        all.append(runs);
  auto sizes = cutDevices(numDevices, all);
  if (!sizes)
    return rt::makeError(ErrorKind::unsupported,
                         "expected shardings that follow the axes of one "
                         "mesh, got some, as '" +
                             example.str() + "', that do not fit together");
  std::string hint = "axes of sizes " + showSizes(*sizes) +
                     " by [mesh] axes and --mesh would do, in this order";
  if (axes.empty())
    return rt::makeError(ErrorKind::usage,
                         "expected a mesh for the sharding '" + example.str() +
                             "', which names no axes, got none")
        .withHint(hint);
  if (countDevices(axes) == 1 && sizes->size() <= axes.size())
    for (auto [axis, size] : llvm::zip(axes, *sizes))
      axis.second = size;
  if (countDevices(axes) != numDevices)
    return rt::makeError(
               ErrorKind::usage,
               "expected a mesh of " + std::to_string(numDevices) +
                   " devices beside the pipeline axis, as the sharding '" +
                   example.str() + "' has, got " + showMesh(axes))
        .withHint(hint);
  return checkRuns(hint);
}

/// Where a device has a program of its own the number of devices counts, even
/// if nothing is split.
static int64_t countPartitions(ModuleOp module) {
  auto number = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  return number && number.getInt() > 0 ? number.getInt() : 1;
}

rt::Status HloMesh::choose(ModuleOp module, const MeshAxes &given) {
  auto take = [&](const MeshAxes &from) {
    if (axes.empty() && countDevices(from) > 1)
      axes = from;
  };
  for (auto op : module.getOps<sdy::MeshOp>())
    take(axesOf(op.getMesh()));
  bool isManual = false;
  for (const auto &[text, list] : texts)
    for (const Known &known : list) {
      take(known.sharding.mesh);
      if (known.sharding.kind == HloSharding::Kind::Manual && !isManual) {
        isManual = true;
        if (numDevices == 1)
          example = text;
      }
    }
  if (axes.empty())
    axes = given;
  if (isManual && numDevices == 1)
    numDevices = countPartitions(module);
  if (numDevices > 1)
    LLMC_TRY(fitSizes());
  mesh = makeMesh(axes, {});
  return rt::Status::success();
}

rt::Result<HloMesh> HloMesh::read(ModuleOp module, const MeshAxes &given) {
  HloMesh made;
  made.context = module.getContext();
  LLMC_TRY(made.collect(module));
  if (!made.isEmpty())
    LLMC_TRY(made.choose(module, given));
  return made;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

HloMesh::AxisRefs HloMesh::getAxes(const Known &known, size_t tile) const {
  AxisRefs list;
  for (const DeviceRun &run : known.runs[tile]) {
    std::vector<AxisPart> parts = *findParts(axes, run);
    list.append(getAxes(parts));
  }
  return list;
}

HloMesh::AxisRefs HloMesh::getAxes(const std::vector<AxisPart> &list) const {
  AxisRefs made;
  for (const AxisPart &part : list)
    made.push_back(makeAxisRef(context, part));
  return made;
}

static sdy::DimensionShardingAttr
makeDim(MLIRContext *context, ArrayRef<sdy::AxisRefAttr> axes, bool isOpen) {
  return sdy::DimensionShardingAttr::get(context, axes, !isOpen, {});
}

sdy::TensorShardingAttr HloMesh::getWhole(int64_t rank,
                                          ArrayRef<int64_t> open) const {
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(makeDim(context, {}, llvm::is_contained(open, dim)));
  return sdy::TensorShardingAttr::get(context, mesh, dims, {}, {});
}

sdy::TensorShardingAttr HloMesh::convertTiled(const Known &known,
                                              ArrayRef<int64_t> open) const {
  SmallVector<sdy::DimensionShardingAttr> dims;
  AxisRefs unreduced;
  for (size_t tile = 0; tile < known.runs.size(); ++tile) {
    std::optional<Subgroup> group = getSubgroup(known.sharding, tile);
    if (!group)
      dims.push_back(makeDim(context, getAxes(known, tile),
                             llvm::is_contained(open, tile)));
    else if (*group == Subgroup::Unreduced)
      unreduced.append(getAxes(known, tile));
  }
  return sdy::TensorShardingAttr::get(context, mesh, dims, {}, unreduced);
}

sdy::TensorShardingAttr HloMesh::convertNamed(const HloSharding &sharding,
                                              ArrayRef<int64_t> open) const {
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (auto [number, dim] : llvm::enumerate(sharding.dims))
    dims.push_back(makeDim(context, getAxes(dim.axes),
                           dim.isOpen || llvm::is_contained(open, number)));
  return sdy::TensorShardingAttr::get(
      context, makeMesh(sharding.mesh, sharding.deviceIds), dims,
      getAxes(sharding.replicated), getAxes(sharding.unreduced));
}

rt::Result<sdy::TensorShardingAttr> HloMesh::convert(StringAttr text, Type type,
                                                     Location loc,
                                                     ArrayRef<int64_t> open,
                                                     unsigned element,
                                                     bool mayBeInGroup) const {
  const Known &known = texts.find(text)->second[element];
  const HloSharding &sharding = known.sharding;
  auto refuse = [&](ErrorKind kind, const std::string &message) {
    return rt::makeError(kind, describePlace(loc) + message + ", got '" +
                                   text.str() + "'");
  };
  if (sharding.group && !mayBeInGroup)
    return refuse(ErrorKind::unsupported,
                  "expected 'shard_as' and 'shard_like' of '@Sharding' only");
  using Kind = HloSharding::Kind;
  if (sharding.kind == Kind::Manual || sharding.kind == Kind::Maximal ||
      sharding.kind == Kind::Unknown)
    return sdy::TensorShardingAttr();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return refuse(ErrorKind::unsupported, "expected a sharding of a tensor");
  int64_t rank = tensor.getRank();
  if (sharding.kind == Kind::Replicated)
    return getWhole(rank, open);
  if (static_cast<int64_t>(sharding.getNumDims()) != rank)
    return refuse(ErrorKind::malformed,
                  "expected a sharding of " + std::to_string(rank) +
                      (rank == 1 ? " dimension" : " dimensions") +
                      ", as the tensor has");
  return sharding.kind == Kind::Named ? convertNamed(sharding, open)
                                      : convertTiled(known, open);
}

SmallVector<StringAttr> HloMesh::getManualAxes(StringAttr text) const {
  const Known &known = texts.find(text)->second.front();
  SmallVector<StringRef> names;
  for (size_t tile = 0; tile < known.runs.size(); ++tile)
    if (getSubgroup(known.sharding, tile) == Subgroup::Manual)
      for (sdy::AxisRefAttr axis : getAxes(known, tile))
        names.push_back(axis.getName());
  for (const AxisPart &axis : known.sharding.manual)
    names.push_back(axis.name);
  SmallVector<StringAttr> manual;
  for (const auto &[axis, size] : axes)
    if (known.sharding.kind == HloSharding::Kind::Manual ||
        llvm::is_contained(names, axis))
      manual.push_back(StringAttr::get(context, axis));
  return manual;
}

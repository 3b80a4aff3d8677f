//===- Mesh.cpp - The mesh and the machine --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes come from [mesh], or from the file's own mesh where the configuration
// has none; sizes from `--mesh`. [machine] becomes `machine` of the mesh,
// from which prices of moves are read.
//
// Tests: test/Import/StableHLO/{shardings,machine}.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Runtime/Base/LibraryCost.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

static rt::Status refuse(const rt::Config &config, const std::string &key,
                         const std::string &message) {
  return rt::makeError(ErrorKind::usage, config.originOf(key) + ": " + message);
}

//===----------------------------------------------------------------------===//
// [machine]
//===----------------------------------------------------------------------===//

static rt::Status checkMachine(ArrayRef<std::string> names,
                               const rt::Config &config) {
  const rt::MachineConfig &machine = config.machine;
  std::vector<std::string> links;
  for (auto [i, link] : llvm::enumerate(machine.links)) {
    std::string key = "machine.link[" + std::to_string(i) + "]";
    if (link.name.empty() || llvm::is_contained(links, link.name))
      return refuse(config, key,
                    "expected '" + key + "' to have a name of its own, got \"" +
                        link.name + "\"");
    if (!(link.bandwidth > 0) || link.latency < 0)
      return refuse(config, key,
                    "expected '" + key +
                        "' to have a positive bandwidth and a latency of at "
                        "least 0");
    links.push_back(link.name);
  }
  for (const auto &[axis, link] : machine.axes) {
    std::string key = "machine.axes." + axis;
    if (!llvm::is_contained(names, axis)) {
      std::string near = rt::nearest(axis, names.vec());
      return refuse(config, key,
                    "expected '" + key + "' to name an axis of 'mesh.axes' (" +
                        llvm::join(names, ", ") + ")" +
                        (near.empty() ? "" : ", did you mean '" + near + "'?"));
    }
    if (!llvm::is_contained(links, link)) {
      std::string near = rt::nearest(link, links);
      return refuse(
          config, key,
          "expected '" + key + "' to name a [[machine.link]], got \"" + link +
              "\"" + (near.empty() ? "" : ", did you mean \"" + near + "\"?"));
    }
  }
  return rt::Status::success();
}

static rt::Status checkRates(const rt::Config &config) {
  std::vector<std::string> known(rt::rateNames.begin(), rt::rateNames.end());
  for (const auto &[type, rate] : config.machine.rates) {
    std::string key = "machine.rates." + type;
    std::string near = rt::nearest(type, known);
    if (!llvm::is_contained(known, type))
      return refuse(config, key,
                    "expected '" + key + "' to name a type (" +
                        llvm::join(known, ", ") + ")" +
                        (near.empty() ? "" : ", did you mean '" + near + "'?"));
    if (!(rate > 0) || !std::isfinite(rate))
      return refuse(config, key,
                    "expected '" + key + "' to be positive and finite, got " +
                        llvm::formatv("{0}", rate).str());
  }
  return rt::Status::success();
}

static DictionaryAttr getRates(Builder &builder,
                               const rt::MachineConfig &machine) {
  SmallVector<NamedAttribute> rates;
  for (const auto &[type, rate] : machine.rates)
    rates.push_back(builder.getNamedAttr(type, builder.getF64FloatAttr(rate)));
  return rates.empty() ? DictionaryAttr() : builder.getDictionaryAttr(rates);
}

static rt::Status addMachine(dist::MeshOp mesh, const rt::Config &config) {
  const rt::MachineConfig &machine = config.machine;
  LLMC_TRY(checkMachine(getWholeAxes(mesh.getAxes()), config));
  LLMC_TRY(checkRates(config));
  if (machine.links.empty() && machine.flops == 0 && machine.memory == 0 &&
      machine.memoryBandwidth == 0 && machine.bucket < 0 &&
      machine.rates.empty())
    return rt::Status::success();
  Builder builder(mesh.getContext());
  auto number = [&](double value) {
    return value == 0 ? FloatAttr() : builder.getF64FloatAttr(value);
  };
  SmallVector<Attribute> links;
  for (const rt::LinkConfig &link : machine.links)
    links.push_back(dist::LinkAttr::get(
        builder.getContext(), builder.getStringAttr(link.name),
        builder.getF64FloatAttr(link.latency),
        builder.getF64FloatAttr(link.bandwidth)));
  SmallVector<NamedAttribute> axes;
  for (StringAttr name : mesh.getAxes().getNames())
    if (auto link = machine.axes.find(readPart(name).name);
        link != machine.axes.end())
      axes.push_back(
          builder.getNamedAttr(name, builder.getStringAttr(link->second)));
  mesh.setMachineAttr(dist::MachineAttr::get(
      builder.getContext(),
      links.empty() ? ArrayAttr() : builder.getArrayAttr(links),
      axes.empty() ? DictionaryAttr() : builder.getDictionaryAttr(axes),
      number(machine.flops), number(machine.memory),
      number(machine.memoryBandwidth),
      machine.bucket < 0 ? FloatAttr()
                         : builder.getF64FloatAttr(machine.bucket),
      getRates(builder, machine)));
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// [mesh]
//===----------------------------------------------------------------------===//

/// Replaces sizes by those of `--mesh`.
static rt::Status setSizes(const std::vector<std::string> &axes,
                           SmallVectorImpl<int64_t> &sizes,
                           const Options &options) {
  for (const auto &[axis, size] : options.meshSizes) {
    auto at = llvm::find(axes, axis);
    if (at == axes.end()) {
      std::string near = rt::nearest(axis, axes);
      return rt::makeError(
          ErrorKind::usage,
          "--mesh: expected an axis of 'mesh.axes' (" + llvm::join(axes, ", ") +
              "), got '" + axis + "'" +
              (near.empty() ? "" : ", did you mean '" + near + "'?"));
    }
    sizes[at - axes.begin()] = size;
  }
  return rt::Status::success();
}

MeshAxes import::getGivenAxes(const Options &options) {
  const rt::Config &config = options.config;
  MeshAxes axes;
  bool isGiven = config.originOf("mesh.axes") != "default" ||
                 llvm::any_of(options.meshSizes, [&](const auto &axis) {
                   return llvm::is_contained(config.mesh.axes, axis.first);
                 });
  if (!isGiven)
    return axes;
  for (const std::string &axis : config.mesh.axes) {
    if (axis == config.mesh.pipeline)
      continue;
    axes.emplace_back(axis, 1);
    for (const auto &[name, size] : options.meshSizes)
      if (name == axis)
        axes.back().second = size;
  }
  return axes;
}

/// The axes that the file gives where the configuration has none, with the
/// sizes of the command line.
static rt::Result<MeshAxes> findMesh(const Options &options,
                                     const MeshAxes &annotated) {
  std::vector<std::string> axes = options.config.mesh.axes;
  SmallVector<int64_t> sizes(axes.size(), 1);
  if (!annotated.empty() && options.config.originOf("mesh.axes") == "default") {
    axes.clear();
    sizes.clear();
    for (const auto &[axis, size] : annotated) {
      axes.push_back(axis);
      sizes.push_back(size);
    }
  }
  LLMC_TRY(setSizes(axes, sizes, options));
  const rt::Config &config = options.config;
  const std::string &pipeline = config.mesh.pipeline;
  if (!pipeline.empty() && !llvm::is_contained(axes, pipeline))
    return refuse(config, "mesh.pipeline",
                  "expected 'mesh.pipeline' to be one of the axes (" +
                      llvm::join(axes, ", ") + "), got \"" + pipeline + "\"");
  MeshAxes mesh;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    if (readPart(axis).size > 0)
      return refuse(config, "mesh.axes",
                    "expected names of axes that are not those of parts, got "
                    "\"" +
                        axis + "\"");
    mesh.emplace_back(axis, size);
  }
  return mesh;
}

/// Cuts the axes where layouts do. The pipeline's parts are refused later.
static rt::Status cutMesh(MeshAxes &axes, const Options &options,
                          const FileMesh &fileMesh) {
  std::vector<NamedPart> parts = getParts(options.config);
  parts.insert(parts.end(), fileMesh.parts.begin(), fileMesh.parts.end());
  llvm::erase_if(parts, [&](const NamedPart &named) {
    return named.part.name == options.config.mesh.pipeline;
  });
  return cutAxes(axes, parts);
}

rt::Result<dist::MeshOp> import::addMesh(ModuleOp module,
                                         const Options &options,
                                         const FileMesh &fileMesh) {
  MLIRContext *context = module.getContext();
  LLMC_TRY_ASSIGN(MeshAxes axes, findMesh(options, fileMesh.axes));
  LLMC_TRY(cutMesh(axes, options, fileMesh));
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const auto &[axis, size] : axes) {
    names.push_back(StringAttr::get(context, axis));
    sizes.push_back(size);
  }
  FirstError error(*context);
  if (failed(dist::MeshAxesAttr::verify(
          [&] { return mlir::emitError(UnknownLoc::get(context)); }, names,
          sizes)))
    return error.status(ErrorKind::usage, "expected a mesh")
        .inContext("mesh.axes, --mesh");
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto mesh =
      dist::MeshOp::create(builder, module.getLoc(), "mesh",
                           dist::MeshAxesAttr::get(context, names, sizes),
                           options.config.mesh.pipeline);
  LLMC_TRY(addMachine(mesh, options.config));
  return mesh;
}

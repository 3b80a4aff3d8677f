//===- States.cpp - Arguments become inputs and states --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument that [data.inputs] names is an input. Of the others, one that a
// result of the same path and type replaces is carried, every other one is a
// parameter; both become states under their path. The first result is the
// loss, results that replace nothing are outputs.
//
// Tests: test/Import/StableHLO/states.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Runtime/Base/Safetensors.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using dist::DistDialect;
using rt::ErrorKind;

namespace {
/// The work on one function.
class StateMaker {
public:
  StateMaker(ModuleOp module, func::FuncOp main, const Options &options)
      : main(main), options(options), builder(module.getContext()) {
    builder.setInsertionPoint(main);
  }

  rt::Status run();

private:
  rt::Status readNames();
  rt::Status markInput(unsigned i);
  rt::Status markState(unsigned i, std::optional<unsigned> result);
  rt::Status markResults();
  rt::Result<Attribute> sourceOf(StringRef name, RankedTensorType type,
                                 bool isParameter);
  rt::Result<Attribute> weightOf(StringRef name, RankedTensorType type);
  std::string describe(unsigned i) {
    return describePlace(main.getArgument(i).getLoc()) + "argument " +
           std::to_string(i);
  }

  func::FuncOp main;
  const Options &options;
  OpBuilder builder;
  SmallVector<ValueName> arguments;
  /// Result number of a path, for results that are not the loss.
  llvm::StringMap<unsigned> resultOf;
  std::optional<rt::Safetensors> weights;
};
} // namespace

static std::string show(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

rt::Status StateMaker::readNames() {
  llvm::StringMap<unsigned> seen;
  for (BlockArgument argument : main.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::optional<ValueName> name = nameOf(argument.getLoc());
    if (!name)
      return rt::makeError(ErrorKind::diagnosed,
                           describe(i) +
                               " expected to have a name in its location, got "
                               "none")
          .withHint("print the module with lowered.as_text(debug_info=True)");
    if (!seen.try_emplace(name->shortName(), i).second)
      return rt::makeError(ErrorKind::diagnosed,
                           describe(i) +
                               " expected to have a name of its own, "
                               "got '" +
                               name->shortName() + "' again");
    arguments.push_back(*name);
  }
  for (unsigned i = 1; i < main.getNumResults(); ++i)
    if (auto info = main.getResultAttrOfType<StringAttr>(i, "jax.result_info"))
      if (auto name = parseName(info.getValue())) {
        // result[1]['count'] : the first step numbers the result itself.
        StringRef path = name->path;
        resultOf[path.contains('.') ? path.split('.').second : path] = i;
      }
  return rt::Status::success();
}

rt::Status StateMaker::markInput(unsigned i) {
  const std::string &name = arguments[i].shortName();
  int64_t offset = options.config.data.inputs.at(name);
  main.setArgAttr(i, DistDialect::kRole, builder.getStringAttr("input"));
  main.setArgAttr(i, DistDialect::kInput, builder.getStringAttr(name));
  main.setArgAttr(i, DistDialect::kDataOffset,
                  builder.getI64IntegerAttr(offset));
  auto type = cast<RankedTensorType>(main.getArgument(i).getType());
  if (type.getRank() == 0)
    return rt::makeError(ErrorKind::diagnosed,
                         describe(i) + " ('" + name +
                             "') expected to have a batch dimension, got " +
                             show(type));
  return rt::Status::success();
}

rt::Result<Attribute> StateMaker::weightOf(StringRef name,
                                           RankedTensorType type) {
  const rt::SafetensorsEntry *entry = weights->find(name.str());
  if (!entry)
    return rt::makeError(ErrorKind::malformed,
                         options.weights + ": expected a tensor '" +
                             name.str() + "', got none of that name");
  ArrayRef<int64_t> shape(entry->shape);
  std::string dtype(rt::nameOf(entry->dtype));
  if (shape != type.getShape())
    return rt::makeError(
        ErrorKind::malformed,
        options.weights + ": expected '" + name.str() +
            "' to have the shape of " + show(type) + ", got [" +
            llvm::join(llvm::map_range(
                           shape, [](int64_t d) { return std::to_string(d); }),
                       ", ") +
            "]");
  if (dist::getRuntimeDType(type.getElementType()) != entry->dtype)
    return rt::makeError(ErrorKind::malformed,
                         options.weights + ": expected '" + name.str() +
                             "' of " + show(type.getElementType()) + ", got " +
                             dtype);
  auto begin = static_cast<int64_t>(weights->offset(*entry));
  return Attribute(
      dist::FileAttr::get(builder.getContext(), options.weights, begin,
                          static_cast<int64_t>(entry->end - entry->begin)));
}

rt::Result<Attribute>
StateMaker::sourceOf(StringRef name, RankedTensorType type, bool isParameter) {
  auto draw = [&](dist::DrawKind kind, ArrayRef<double> values) {
    return Attribute(dist::DrawAttr::get(builder.getContext(), kind, values));
  };
  if (!isParameter)
    return draw(dist::DrawKind::Zeros, {});
  if (weights)
    return weightOf(name, type);
  for (const rt::InitConfig &init : options.config.init) {
    if (!rt::matchesGlob(init.match,
                         std::string_view(name.data(), name.size())))
      continue;
    if (init.draw == "zeros")
      return draw(dist::DrawKind::Zeros, {});
    if (init.draw == "ones")
      return draw(dist::DrawKind::Ones, {});
    if (init.draw == "constant")
      return draw(dist::DrawKind::Constant, {init.value});
    if (init.draw == "uniform")
      return draw(dist::DrawKind::Uniform, {init.low, init.high});
    return draw(init.draw == "normal" ? dist::DrawKind::Normal
                                      : dist::DrawKind::TruncatedNormal,
                {init.std, init.mean});
  }
  return rt::makeError(ErrorKind::usage,
                       "expected an [[init]] pattern for parameter '" +
                           name.str() + "', got none that matches")
      .withHint(
          "add [[init]] match = \"*\" draw = \"normal\", or give --weights");
}

rt::Status StateMaker::markState(unsigned i, std::optional<unsigned> result) {
  const std::string &name = arguments[i].shortName();
  auto type = cast<RankedTensorType>(main.getArgument(i).getType());
  bool isParameter = !result;
  if (isParameter && !isa<FloatType>(type.getElementType())) {
    std::vector<std::string> inputs;
    for (auto &[input, offset] : options.config.data.inputs)
      inputs.push_back(input);
    std::string near = rt::nearest(name, inputs);
    return rt::makeError(
        ErrorKind::diagnosed,
        describe(i) + " ('" + name +
            "') expected to be an input of [data.inputs] or a float parameter, "
            "got " +
            show(type) +
            (near.empty() ? "" : "; did you mean input '" + near + "'?"));
  }
  LLMC_TRY_ASSIGN(Attribute source, sourceOf(name, type, isParameter));
  auto role = isParameter ? dist::Role::Parameter : dist::Role::Carried;
  dist::StateOp::create(builder, main.getArgument(i).getLoc(), name, type, role,
                        source);
  auto symbol = FlatSymbolRefAttr::get(builder.getContext(), name);
  auto roleName = builder.getStringAttr(isParameter ? "parameter" : "carried");
  main.setArgAttr(i, DistDialect::kRole, roleName);
  main.setArgAttr(i, DistDialect::kReads, symbol);
  if (result) {
    main.setResultAttr(*result, DistDialect::kRole, roleName);
    main.setResultAttr(*result, DistDialect::kWrites, symbol);
  }
  return rt::Status::success();
}

rt::Status StateMaker::markResults() {
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    std::string name = "result" + std::to_string(i);
    if (auto info =
            main.getResultAttrOfType<StringAttr>(i, "jax.result_info")) {
      std::optional<ValueName> parsed = parseName(info.getValue());
      if (parsed && !parsed->path.empty())
        name = parsed->path;
      main.removeResultAttr(i, builder.getStringAttr("jax.result_info"));
    }
    if (main.getResultAttr(i, DistDialect::kRole))
      continue;
    main.setResultAttr(i, DistDialect::kRole,
                       builder.getStringAttr(i == 0 ? "loss" : "output"));
    if (i != 0)
      main.setResultAttr(i, DistDialect::kName, builder.getStringAttr(name));
  }
  auto loss = main.getNumResults()
                  ? dyn_cast<RankedTensorType>(main.getResultTypes().front())
                  : RankedTensorType();
  if (!loss || loss.getRank() != 0 || !isa<FloatType>(loss.getElementType()))
    return rt::makeError(ErrorKind::diagnosed,
                         describePlace(main.getLoc()) +
                             "expected the first result to be the loss, a "
                             "float scalar, got " +
                             (main.getNumResults()
                                  ? show(main.getResultTypes().front())
                                  : "no result"));
  return rt::Status::success();
}

rt::Status StateMaker::run() {
  if (!options.weights.empty()) {
    LLMC_TRY_ASSIGN(weights, rt::Safetensors::open(options.weights));
  }
  LLMC_TRY(readNames());
  std::vector<std::string> found;
  for (auto [i, name] : llvm::enumerate(arguments)) {
    found.push_back(name.shortName());
    if (options.config.data.inputs.count(name.shortName())) {
      LLMC_TRY(markInput(i));
      continue;
    }
    auto result = resultOf.find(name.path);
    bool isCarried =
        !name.path.empty() && result != resultOf.end() &&
        main.getResultTypes()[result->second] == main.getArgument(i).getType();
    LLMC_TRY(
        markState(i, isCarried ? std::optional(result->second) : std::nullopt));
  }
  for (auto &[input, offset] : options.config.data.inputs)
    if (!llvm::is_contained(found, input)) {
      std::string near = rt::nearest(input, found);
      return rt::makeError(
          ErrorKind::usage,
          "expected an argument for 'data.inputs." + input +
              "', got none of that name" +
              (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
  return markResults();
}

rt::Status import::makeStates(ModuleOp module, func::FuncOp main,
                              const Options &options) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.setArgAttrs(i, DictionaryAttr::get(main.getContext()));
  return StateMaker(module, main, options).run();
}

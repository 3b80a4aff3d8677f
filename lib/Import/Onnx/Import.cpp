//===- Import.cpp - Phase 0: an ONNX file becomes a program ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the steps; see Import.h for what comes out.
//
// Tests: test/Import/Onnx/graphs.test
//===----------------------------------------------------------------------===//

#include "llmc/Import/Onnx/Import.h"
#include "DeviceLayouts.h"
#include "GraphImporter.h"
#include "TorchNames.h"
#include "Weights.h"
#include "llmc/Import/Program/ExpandOps.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Support/FirstError.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

bool onnx::isOnnxFile(StringRef path) { return path.ends_with(".onnx"); }

/// Of an input: counts of a few of them are 64-bit numbers.
static constexpr int64_t kMostElements = int64_t(1) << 48;

namespace {
/// The work on one file.
class FileImporter {
public:
  FileImporter(MLIRContext &context, const rt::MappedFile &file,
               const Model &model, const TorchNames &names,
               const ReadOptions &options)
      : context(context), model(model), names(names), options(options),
        path(file.path()),
        module(ModuleOp::create(FileLineColLoc::get(&context, path, 0, 0))),
        main(makeMain(*module)),
        importer(model, path, OpBuilder::atBlockEnd(&main.front())),
        weights(model, file.text(), path) {}

  rt::Result<ReadGraph> run();
  ArrayRef<std::string> getAsked() const { return importer.asked; }

private:
  static func::FuncOp makeMain(ModuleOp module);
  rt::Status checkModel();
  rt::Result<RankedTensorType> typeOf(const ValueInfo &input);
  rt::Result<int64_t> sizeOf(const ValueInfo &input, size_t i);
  rt::Status addInputs();
  rt::Status addInitializers();
  std::optional<double> findOnlyNumber(const Tensor &tensor) const;
  rt::Result<Attribute> sourceOf(const Tensor &tensor);
  rt::Status addWeight(const Tensor &tensor);
  Value addArgument(RankedTensorType type, std::string_view name,
                    import::GivenState given);
  Value addCounter();
  rt::Status addResults();
  bool isUpdated(std::string_view initializer) const;
  bool isUpdate(std::string_view output) const;
  void replaceState(BlockArgument argument, Value value,
                    SmallVectorImpl<Value> &results);
  rt::Status addStep(SmallVectorImpl<Value> &results);
  void addUpdates(SmallVectorImpl<Value> &results);
  void readDerivations(ArrayRef<Value> results);
  rt::Status checkOutput(const ValueInfo &output, Value value);
  rt::Status addLayouts();
  void warnOfTies();
  void dropUnused();

  MLIRContext &context;
  const Model &model;
  const TorchNames &names;
  const ReadOptions &options;
  std::string path;
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
  GraphImporter importer;
  Weights weights;
  GraphImporter::Scope scope;
  import::Graph graph;
};
} // namespace

func::FuncOp FileImporter::makeMain(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto main = func::FuncOp::create(builder, module.getLoc(), "main",
                                   builder.getFunctionType({}, {}));
  main.addEntryBlock();
  return main;
}

/// What no part of the import looks at.
rt::Status FileImporter::checkModel() {
  if (model.trainings.size() > 1)
    return importer.refuse("expected at most one training_info, got " +
                               std::to_string(model.trainings.size()),
                           ErrorKind::unsupported);
  for (const TrainingInfo &training : model.trainings)
    if (!training.initial.empty())
      return importer.refuse(
          "expected initial values in the file, got an initialization_binding "
          "of '" +
              std::string(training.initial.begin()->first) + "'",
          ErrorKind::unsupported);
  if (model.graph.numSparse)
    return importer.refuse("expected dense initializers, got " +
                               std::to_string(model.graph.numSparse) +
                               " sparse ones",
                           ErrorKind::unsupported);
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

rt::Result<int64_t> FileImporter::sizeOf(const ValueInfo &input, size_t i) {
  const Dimension &dim = (*input.shape)[i];
  std::string place = std::string(input.name) + "." + std::to_string(i);
  if (!dim.value)
    for (auto &[name, size] : options.dims)
      if (name == place || (!dim.parameter.empty() && name == dim.parameter))
        return size;
  if (dim.value && *dim.value >= 0)
    return *dim.value;
  std::string shown =
      dim.parameter.empty() ? place : std::string(dim.parameter);
  return importer
      .refuse("input '" + std::string(input.name) + "': expected dimension " +
                  std::to_string(i) + " to have a size, got " +
                  (dim.value ? std::to_string(*dim.value) : "'" + shown + "'"),
              ErrorKind::usage)
      .withHint("give it by --dim " + shown + "=<size>");
}

rt::Result<RankedTensorType> FileImporter::typeOf(const ValueInfo &input) {
  std::string name(input.name);
  if (!input.isTensor)
    return importer.refuse("input '" + name +
                               "': expected a tensor, got another type",
                           ErrorKind::unsupported);
  Type element = toElement(&context, input.element);
  if (!element)
    return importer.refuse("input '" + name +
                               "': expected numbers as elements, got " +
                               nameOf(input.element),
                           ErrorKind::unsupported);
  if (!input.shape)
    return importer.refuse("input '" + name +
                               "': expected a number of dimensions, got none",
                           ErrorKind::unsupported);
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < input.shape->size(); ++i) {
    LLMC_TRY_ASSIGN(int64_t size, sizeOf(input, i));
    shape.push_back(size);
  }
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) || count > kMostElements)
      return importer.refuse("input '" + name +
                             "': expected at most 2^48 elements, got " +
                             show(ArrayRef<int64_t>(shape)));
  return RankedTensorType::get(shape, element);
}

Value FileImporter::addArgument(RankedTensorType type, std::string_view name,
                                import::GivenState given) {
  std::string text(name);
  Location loc = NameLoc::get(StringAttr::get(&context, text));
  Value argument = main.front().addArgument(type, loc);
  importer.nameArgument(argument, name);
  graph.arguments.push_back({text, ""});
  graph.donations.push_back({});
  graph.given.push_back(given);
  return argument;
}

rt::Status FileImporter::addInputs() {
  for (const ValueInfo &input : model.graph.inputs) {
    // Old files list initializers as inputs too.
    bool isInitial =
        llvm::any_of(model.graph.initializers, [&](const Tensor &tensor) {
          return tensor.name == input.name;
        });
    if (isInitial)
      continue;
    auto constant = options.constants.find(std::string(input.name));
    if (constant != options.constants.end()) {
      Value value = stablehlo::ConstantOp::create(
          importer.getBuilder(), module->getLoc(),
          cast<ElementsAttr>(constant->second.toAttribute()));
      LLMC_TRY(importer.define(scope, input.name, value));
      continue;
    }
    LLMC_TRY_ASSIGN(RankedTensorType type, typeOf(input));
    Value argument = addArgument(type, input.name, {});
    LLMC_TRY(importer.define(scope, input.name, argument));
  }
  return rt::Status::success();
}

/// The number that all elements are, of a tensor whose elements are no bytes in
/// one piece: counts and rates are written so.
std::optional<double> FileImporter::findOnlyNumber(const Tensor &tensor) const {
  rt::Result<HostTensor> value = decode(&context, tensor);
  if (!value || value->getNumElements() == 0)
    return std::nullopt;
  auto at = [&](int64_t i) {
    return isa<FloatType>(value->getElementType())
               ? value->getFloat(i)
               : static_cast<double>(value->getInt(i));
  };
  for (int64_t i = 1; i < value->getNumElements(); ++i)
    if (at(i) != at(0))
      return std::nullopt;
  return at(0);
}

/// Where the initial values are.
rt::Result<Attribute> FileImporter::sourceOf(const Tensor &tensor) {
  if (names.zeros.count(tensor.name))
    return Attribute(dist::DrawAttr::get(&context, dist::DrawKind::Zeros,
                                         ArrayRef<double>()));
  if (isUpdated(tensor.name) && !tensor.isExternal && tensor.raw.empty())
    if (std::optional<double> value = findOnlyNumber(tensor))
      return Attribute(
          dist::DrawAttr::get(&context, dist::DrawKind::Constant, {*value}));
  LLMC_TRY_ASSIGN(FileRegion region, weights.findRegion(tensor));
  return Attribute(
      dist::FileAttr::get(&context, region.path, region.offset, region.bytes));
}

rt::Status FileImporter::addWeight(const Tensor &tensor) {
  Type element = toElement(&context, tensor.type);
  if (!element)
    return importer.refuse("tensor '" + std::string(tensor.name) +
                               "': expected elements that are numbers in "
                               "memory, got " +
                               nameOf(tensor.type),
                           ErrorKind::unsupported);
  LLMC_TRY_ASSIGN(Attribute source, sourceOf(tensor));
  LLMC_TRY_ASSIGN(bool isParameter, weights.isParameter(tensor, &context));
  using Kind = import::GivenState::Kind;
  import::GivenState given{isParameter ? Kind::Parameter : Kind::Constant,
                           source, std::nullopt};
  Value argument = addArgument(RankedTensorType::get(tensor.dims, element),
                               tensor.name, given);
  importer.markWeight(argument);
  if (weights.getSignature().mutated.contains(
          StringRef(tensor.name.data(), tensor.name.size())))
    importer.markMutated(argument);
  return importer.define(scope, tensor.name, argument);
}

rt::Status FileImporter::addInitializers() {
  for (const Tensor &tensor : model.graph.initializers) {
    if (weights.isArgument(tensor) || isUpdated(tensor.name)) {
      rt::Status status = addWeight(tensor);
      if (!status.ok())
        return status.at(path);
      continue;
    }
    std::string storage;
    rt::Result<Tensor> loaded = weights.load(tensor, storage);
    if (!loaded)
      return loaded.status().at(path);
    LLMC_TRY_ASSIGN(Value value,
                    importer.makeConstant(*loaded, module->getLoc()));
    LLMC_TRY(importer.define(scope, tensor.name, value));
  }
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// What the file says of an output is checked, and not trusted.
rt::Status FileImporter::checkOutput(const ValueInfo &output, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!output.isTensor)
    return rt::Status::success();
  bool fits = output.element == ElementType::undefined ||
              toElement(&context, output.element) == type.getElementType();
  if (output.shape) {
    fits &= output.shape->size() == static_cast<size_t>(type.getRank());
    for (size_t i = 0; fits && i < output.shape->size(); ++i) {
      const Dimension &dim = (*output.shape)[i];
      fits = !dim.value || *dim.value == type.getDimSize(i);
    }
  }
  if (fits)
    return rt::Status::success();
  return importer.refuse("output '" + std::string(output.name) +
                         "': expected the type that the file gives it, got " +
                         show(Type(type)));
}

/// i32, and one more after each microbatch.
Value FileImporter::addCounter() {
  auto type = RankedTensorType::get({}, IntegerType::get(&context, 32));
  import::GivenState given{import::GivenState::Kind::Carried, {}, {}};
  return addArgument(type, "rng.counter", given);
}

void FileImporter::replaceState(BlockArgument argument, Value value,
                                SmallVectorImpl<Value> &results) {
  import::ValueName name = graph.arguments[argument.getArgNumber()];
  import::ResultName result;
  result.shown = result.path = result.replaces = name.shortName();
  result.metric = result.output = name.shortName();
  graph.given[argument.getArgNumber()]->result = results.size();
  graph.results.push_back(result);
  results.push_back(value);
}

bool FileImporter::isUpdated(std::string_view initializer) const {
  return llvm::any_of(model.trainings, [&](const TrainingInfo &training) {
    return training.updates.count(initializer) != 0;
  });
}

bool FileImporter::isUpdate(std::string_view output) const {
  return llvm::any_of(model.trainings, [&](const TrainingInfo &training) {
    return llvm::any_of(training.updates, [&](const auto &binding) {
      return binding.second == output;
    });
  });
}

/// What the file's own training step makes of its initializers: their memory is
/// given away for it.
rt::Status FileImporter::addStep(SmallVectorImpl<Value> &results) {
  for (const TrainingInfo &training : model.trainings)
    for (auto [initializer, output] : training.updates) {
      const Binding *state = scope.find(initializer);
      const Binding *next = scope.find(output);
      bool isThere = state && next && !next->isList && next->values.size() == 1;
      auto argument = isThere ? dyn_cast<BlockArgument>(state->values.front())
                              : BlockArgument();
      if (!argument || argument.getType() != next->values.front().getType())
        return importer.refuse(
            "update_binding: expected an initializer and a value of its type, "
            "got '" +
                std::string(initializer) + "' and '" + std::string(output) +
                "'",
            ErrorKind::malformed);
      graph.donations[argument.getArgNumber()] = {true, results.size()};
      replaceState(argument, next->values.front(), results);
    }
  for (auto [state, value] : importer.optimizerStates)
    graph.given[cast<BlockArgument>(state).getArgNumber()]->parameter =
        cast<BlockArgument>(value).getArgNumber();
  return rt::Status::success();
}

/// Which results are computed from derivatives that the file takes itself.
void FileImporter::readDerivations(ArrayRef<Value> results) {
  llvm::DenseSet<Value> derived(importer.derivatives.begin(),
                                importer.derivatives.end());
  for (Operation &op : main.front())
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return derived.contains(operand); }))
      derived.insert(op.result_begin(), op.result_end());
  for (auto [value, name] : llvm::zip_equal(results, graph.results))
    if (derived.contains(value))
      name.derivation = importer.derivatives.contains(value)
                            ? import::Derivation::Gradient
                            : import::Derivation::Update;
}

/// The new values of states that nodes imply, after the outputs.
void FileImporter::addUpdates(SmallVectorImpl<Value> &results) {
  if (Value counter = importer.counter)
    importer.updates[counter] =
        stablehlo::add(importer.getBuilder(), module->getLoc(), counter,
                       stablehlo::constantLike(importer.getBuilder(),
                                               module->getLoc(), counter, 1));
  for (Value argument : importer.statistics)
    graph.given[cast<BlockArgument>(argument).getArgNumber()]->kind =
        import::GivenState::Kind::Constant;
  for (auto &[argument, value] : importer.updates) {
    auto place = cast<BlockArgument>(argument);
    graph.given[place.getArgNumber()]->kind = import::GivenState::Kind::Carried;
    replaceState(place, value, results);
  }
}

rt::Status FileImporter::addResults() {
  SmallVector<Value> results;
  for (const ValueInfo &output : model.graph.outputs) {
    if (isUpdate(output.name))
      continue;
    const Binding *value = scope.find(output.name);
    if (!value || value->isList || value->values.empty())
      return importer.refuse("output '" + std::string(output.name) +
                                 "': expected a tensor that a node computes, "
                                 "got none",
                             ErrorKind::malformed);
    for (const import::ResultName &known : graph.results)
      if (known.shown == output.name)
        return importer.refuse("expected outputs of different names, got '" +
                                   std::string(output.name) + "' again",
                               ErrorKind::malformed);
    LLMC_TRY(checkOutput(output, value->values.front()));
    results.push_back(value->values.front());
    import::ResultName name;
    name.shown = name.path = name.metric = name.output =
        std::string(output.name);
    name.isForForward = rankOf(results.back()) != 0;
    graph.results.push_back(name);
  }
  LLMC_TRY(addStep(results));
  addUpdates(results);
  readDerivations(results);
  func::ReturnOp::create(importer.getBuilder(), module->getLoc(), results);
  return rt::Status::success();
}

/// A norm's weight of ones may have been that of each layer when the file was
/// written; trained as one tensor it would be another model.
void FileImporter::warnOfTies() {
  for (const Tensor &tensor : model.graph.initializers) {
    const Binding *value = scope.find(tensor.name);
    auto argument = value && value->values.size() == 1
                        ? dyn_cast<BlockArgument>(value->values.front())
                        : BlockArgument();
    if (!argument || graph.given[argument.getArgNumber()]->kind !=
                         import::GivenState::Kind::Parameter)
      continue;
    llvm::SmallDenseSet<Location> readers;
    for (Operation *user : argument.getUsers())
      readers.insert(user->getLoc());
    if (readers.size() < 2 || !weights.isMergedEasily(tensor, &context))
      continue;
    rt::log(rt::LogLevel::warning,
            path + ": parameter '" + std::string(tensor.name) +
                "' is read by " + std::to_string(readers.size()) +
                " nodes, and all its elements are equal: if these were several "
                "parameters, export the model by torch.onnx.export(..., "
                "optimize=False)");
  }
}

/// The file's device configurations as annotations.
rt::Status FileImporter::addLayouts() {
  if (!options.mesh)
    return rt::Status::success();
  rt::Status status = annotateDevices(
      model, path, *options.mesh, main, [&](std::string_view name) -> Value {
        const Binding *value = scope.find(name);
        bool isTensor = value && !value->isList && value->values.size() == 1;
        return isTensor ? value->values.front() : Value();
      });
  return status.ok() ? std::move(status) : status.at(path);
}

/// Ops and weights of which nothing depends.
void FileImporter::dropUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unused(main.front().getNumArguments());
  for (unsigned i = unused.size(); i-- > 0;) {
    bool isWeight = graph.given[i]->kind != import::GivenState::Kind::Input;
    if (!isWeight || !main.front().getArgument(i).use_empty())
      continue;
    unused.set(i);
    graph.arguments.erase(graph.arguments.begin() + i);
    graph.donations.erase(graph.donations.begin() + i);
    graph.given.erase(graph.given.begin() + i);
  }
  (void)main.eraseArguments(unused);
}

rt::Result<ReadGraph> FileImporter::run() {
  importer.makeCounter = [this] { return addCounter(); };
  LLMC_TRY(checkModel());
  LLMC_TRY(addInputs());
  LLMC_TRY(addInitializers());
  LLMC_TRY(importer.importNodes(model.graph.nodes, scope));
  LLMC_TRY(addResults());
  main.setType(
      FunctionType::get(&context, main.front().getArgumentTypes(),
                        main.front().getTerminator()->getOperandTypes()));
  warnOfTies();
  LLMC_TRY(addLayouts());
  dropUnused();
  LLMC_TRY(import::expandOps(main));
  graph.main = main;
  return ReadGraph{std::move(module), std::move(graph)};
}

static rt::Result<TorchNames> restoreNames(Model &model, std::string_view bytes,
                                           const std::string &path) {
  Weights weights(model, bytes, path);
  return restoreTorchNames(
      model, [&](const Tensor &tensor) -> rt::Result<std::string> {
        std::string storage;
        LLMC_TRY_ASSIGN(Tensor loaded, weights.load(tensor, storage));
        return std::string(loaded.raw);
      });
}

rt::Result<ReadGraph> onnx::readGraph(MLIRContext &context,
                                      const std::string &path,
                                      const ReadOptions &options,
                                      std::vector<std::string> *asked) {
  LLMC_TRY_ASSIGN(rt::MappedFile file, rt::MappedFile::open(path));
  LLMC_TRY_ASSIGN(Model model, readModel(file.text(), path));
  rt::Result<TorchNames> names = restoreNames(model, file.text(), path);
  if (!names)
    return names.status().at(path);
  FileImporter importer(context, file, model, *names, options);
  rt::Result<ReadGraph> graph = importer.run();
  if (asked && !graph)
    asked->assign(importer.getAsked().begin(), importer.getAsked().end());
  return graph;
}

/// The loss of the file itself: the first result that is one float.
static void findLoss(import::Graph &graph) {
  for (auto [i, type] : llvm::enumerate(graph.main.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getRank() == 0 && isa<FloatType>(tensor.getElementType()))
      return import::moveToFront(graph, i);
  }
}

rt::Result<OwningOpRef<ModuleOp>>
onnx::importOnnx(MLIRContext &context, const std::string &path,
                 const import::Options &options, std::string *description) {
  LLMC_TRY_ASSIGN(ReadGraph read,
                  readGraph(context, path,
                            {options.dims, {}, import::getGivenAxes(options)}));
  const rt::LossConfig &loss = options.config.loss;
  if (loss.kind == "none" && loss.output.empty())
    findLoss(read.graph);
  func::FuncOp main = read.graph.main;
  LLMC_TRY(import::addObjective(read.graph, options.config));
  LLMC_TRY_ASSIGN(import::Shardings shardings, import::readShardings(main));
  LLMC_TRY_ASSIGN(
      dist::MeshOp mesh,
      import::makeProgram(read.graph, options,
                          {import::axesOf(shardings.mesh), shardings.parts},
                          description));
  LLMC_TRY(import::applyShardings(*read.module, main, mesh, shardings));
  import::storeSmallWhole(*read.module, main, options.config);
  import::addSentTypes(*read.module, options.config);
  import::addForward(read.graph);
  FirstError error(context);
  if (failed(verify(*read.module)))
    return error.status(ErrorKind::internal, path + ": import failed");
  return std::move(read.module);
}

//===- AnnotatedProgram.cpp - Random texts with random annotations --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AnnotatedProgram.h.
//
//===----------------------------------------------------------------------===//

#include "AnnotatedProgram.h"
#include "Annotator.h"
#include "ModelText.h"
#include "RandomPrograms.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::test;
using text::Draw;
using text::RegionTexts;

namespace {
class ProgramMaker {
public:
  ProgramMaker(MLIRContext *context, uint64_t seed)
      : context(context), seed(seed), draw(seed * 3 + 1),
        mesh(drawMesh(), draw) {}

  AnnotatedProgram make();

private:
  text::Shape drawMesh();
  void parseGraph();
  void parseModel();
  void addCalls();
  void addCall(Value value);
  void addLoss();
  Value addMean(OpBuilder &builder, Value value);
  void appendResults(ArrayRef<Value> values);
  void writeConfig();
  std::string print(const std::vector<std::string> &functions, bool isPlain);

  MLIRContext *context;
  uint64_t seed;
  Draw draw;
  text::TextMesh mesh;
  AnnotatedProgram made;
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
  std::vector<RegionTexts> functions;
  /// Inputs by name.
  std::vector<std::string> inputs;
  bool isShardy = true;
};
} // namespace

/// Sizes of the axes.
static const std::vector<text::Shape> kMeshes = {
    {2},       {3},    {4},       {2, 2}, {2, 3}, {6},       {8},
    {2, 2, 2}, {4, 3}, {2, 2, 3}, {16},   {4, 4}, {2, 2, 4}, {2, 2, 2, 2}};

text::Shape ProgramMaker::drawMesh() { return kMeshes[seed % kMeshes.size()]; }

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static const std::vector<std::vector<std::vector<int64_t>>> kShapes = {
    {{4, 6}, {2, 4, 6}, {6}},    {{5, 7}, {4, 5, 7}, {7}},
    {{8, 6}, {4, 8, 6}, {8}},    {{7, 12}, {4, 3, 8}, {12}},
    {{12, 8}, {6, 8}, {5, 12}},  {{16, 5}, {5, 16}, {16}},
    {{8, 12}, {8, 12}, {12, 8}}, {{9, 6}, {3, 9, 4}, {10}}};

static void nameArgument(func::FuncOp main, unsigned i,
                         const std::string &name) {
  main.getArgument(i).setLoc(
      NameLoc::get(StringAttr::get(main.getContext(), name)));
}

void ProgramMaker::parseGraph() {
  // Sums of hundreds of elements go through sines and tanhs near their ends.
  made.tolerance = 1e-9;
  ProgramOptions options;
  options.seed = seed;
  options.numRecipes = 5;
  options.smooth = made.kind != CaseKind::Graph;
  options.firstRecipe = static_cast<int>(
      seed / 4 % static_cast<uint64_t>(getNumRecipes(options)));
  options.name = "main";
  options.shapes = draw.pick(kShapes);
  module = parseSourceString<ModuleOp>(test::makeProgram(options), context);
  main = getFunction(*module);
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    bool isState =
        made.kind == CaseKind::Graph ? draw.oneIn(3) : i == 0 || draw.oneIn(3);
    std::string name = (isState ? "w" : "x") + std::to_string(i);
    nameArgument(main, i, isState ? "p['" + name + "']" : name);
    if (!isState)
      inputs.push_back(name);
  }
}

/// A random model has ports, which become names.
void ProgramMaker::parseModel() {
  ModelOptions options;
  options.seed = seed;
  options.exact = made.kind == CaseKind::Exact;
  std::string text = makeModel(options);
  // What a last bit changes must not be a narrow type's rounding.
  for (StringRef narrow : {"xbf16>", "xf32>"})
    for (size_t at; (at = text.find(narrow)) != std::string::npos;)
      text.replace(at, narrow.size(), "xf64>");
  module = parseSourceString<ModuleOp>(text, context);
  main = module->lookupSymbol<func::FuncOp>("loss");
  for (Operation &op : llvm::make_early_inc_range(*module->getBody()))
    if (&op != main)
      op.erase();
  main.setName("main");
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    dist::PortAttr port = dist::getArgumentPort(main, i);
    std::string name = "w" + std::to_string(i);
    if (StringAttr input = dist::getInput(port))
      inputs.push_back(name = input.str());
    else
      name = port.getKind() == dist::PortKind::Carried ? "p['counter']"
                                                       : "p['" + name + "']";
    nameArgument(main, i, name);
    main.setArgAttrs(i, ArrayRef<NamedAttribute>());
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    main.setResultAttrs(
        i, NamedAttribute(StringAttr::get(context, "jax.result_info"),
                          StringAttr::get(context, i ? "result[1]['counter']"
                                                     : "result[0]")));
}

//===----------------------------------------------------------------------===//
// Functions of their own
//===----------------------------------------------------------------------===//

static bool isTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF64() && type.getRank() > 0 &&
         type.getNumElements() > 0 && type.getNumElements() <= 600;
}

void ProgramMaker::appendResults(ArrayRef<Value> values) {
  Operation *end = main.getBody().front().getTerminator();
  SmallVector<Type> types(main.getResultTypes());
  for (Value value : values)
    types.push_back(value.getType());
  end->insertOperands(end->getNumOperands(), values);
  main.setType(FunctionType::get(context, main.getArgumentTypes(), types));
}

/// A mean of squares.
Value ProgramMaker::addMean(OpBuilder &builder, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  std::string text =
      text::typeOf(text::Shape(type.getShape().begin(), type.getShape().end()));
  text::Shape dims;
  for (int64_t d = 0; d < type.getRank(); ++d)
    dims.push_back(d);
  std::string function =
      "func.func private @f(%x: " + text + ") -> tensor<f64> {\n" +
      (made.kind == CaseKind::Exact ? "%y = stablehlo.sign %x : "
                                    : "%y = stablehlo.tanh %x : ") +
      text + "\n%s = stablehlo.multiply %y, %y : " + text +
      "\n%z = stablehlo.constant dense<0.0> : tensor<f64>\n" +
      "%n = stablehlo.constant dense<" +
      std::to_string(std::max<int64_t>(
          made.kind == CaseKind::Exact ? 1 : type.getNumElements(), 1)) +
      ".0> : tensor<f64>\n%r = stablehlo.reduce(%s init: %z) applies "
      "stablehlo.add across dimensions = [" +
      text::join(dims) + "] : (" + text +
      ", tensor<f64>) -> tensor<f64>\n%m = stablehlo.divide %r, %n : "
      "tensor<f64>\nreturn %m : tensor<f64>\n}";
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(function, context);
  Block &body = getFunction(*parsed).getBody().front();
  IRMapping mapping;
  mapping.map(body.getArgument(0), value);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

/// Puts a call behind a value. A result of its type replaces the value.
void ProgramMaker::addCall(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  text::Shape shape(type.getShape().begin(), type.getShape().end());
  std::string name = "part" + std::to_string(functions.size());
  bool isExact = made.kind == CaseKind::Exact;
  RegionTexts texts = draw.below(3)
                          ? makeRegion(mesh, name, shape, isExact, draw)
                          : makeLibraryCall(name, shape, draw);
  if (texts.whole.empty())
    return;
  OpBuilder builder(context);
  builder.setInsertionPointAfterValue(value);
  auto call = func::CallOp::create(
      builder, value.getLoc(), name,
      TypeRange(RankedTensorType::get(texts.shape, type.getElementType())),
      ValueRange(value));
  functions.push_back(texts);
  ++made.counts[texts.whole == texts.sdy ? "function" : "region"];
  Value result = call.getResult(0);
  if (result.getType() != type) {
    appendResults(result);
    return;
  }
  if (!isExact) { // what was positive is again
    OperationState state(value.getLoc(), "stablehlo.logistic");
    state.addOperands(result);
    state.addTypes(result.getType());
    result = builder.create(state)->getResult(0);
  }
  value.replaceUsesWithIf(result, [&](OpOperand &use) {
    return use.getOwner() != call &&
           use.getOwner()->getBlock() == call->getBlock();
  });
}

void ProgramMaker::addCalls() {
  std::vector<Value> values;
  for (Value argument : main.getArguments())
    if (isTensor(argument))
      values.push_back(argument);
  for (Operation &op : main.getBody().front().without_terminator())
    for (Value result : op.getResults())
      if (isTensor(result) && !op.hasTrait<OpTrait::ConstantLike>())
        values.push_back(result);
  for (int64_t count = draw.below(4); count > 0 && !values.empty(); --count)
    addCall(values[draw.below(static_cast<int64_t>(values.size()))]);
}

/// The results but those that a model returns become one loss.
void ProgramMaker::addLoss() {
  Operation *end = main.getBody().front().getTerminator();
  OpBuilder builder(end);
  bool isModel = made.counts["model"];
  SmallVector<Value> kept, means;
  for (Value result : end->getOperands()) {
    bool isTerm = isTensor(result) || !isModel;
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (isTerm && (!type.getElementType().isF64() || !type.getNumElements()))
      continue;
    if (isTerm)
      means.push_back(addMean(builder, result));
    else
      kept.push_back(result);
  }
  if (!kept.empty())
    means.push_back(kept.front());
  Value sum = means.front();
  for (Value mean : ArrayRef(means).drop_front()) {
    OperationState state(main.getLoc(), "stablehlo.add");
    state.addOperands({sum, mean});
    state.addTypes(sum.getType());
    sum = builder.create(state)->getResult(0);
  }
  SmallVector<Value> results = {sum};
  if (kept.size() > 1)
    results.append(kept.begin() + 1, kept.end());
  end->setOperands(results);
  main.setType(FunctionType::get(context, main.getArgumentTypes(),
                                 ValueRange(results).getTypes()));
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

std::string ProgramMaker::print(const std::vector<std::string> &parts,
                                bool isPlain) {
  OwningOpRef<ModuleOp> clone = module->clone();
  std::string text;
  if (!isPlain && isShardy)
    text += "sdy.mesh @mesh = <" + mesh.show() + ">\n";
  for (const std::string &part : parts)
    text += part;
  OwningOpRef<ModuleOp> others = parseSourceString<ModuleOp>(text, context);
  if (!others)
    return "module {\n" + text + "}\n"; // the reader will say why
  for (Operation &op : llvm::make_early_inc_range(*others->getBody()))
    op.moveBefore(clone->getBody(), isa<func::FuncOp>(op)
                                        ? clone->getBody()->end()
                                        : clone->getBody()->begin());
  if (!isPlain) {
    clone->getOperation()->setAttr(
        "mhlo.num_partitions",
        IntegerAttr::get(IntegerType::get(context, 32), mesh.getNumDevices()));
    Annotator(mesh, draw, isShardy, made.counts)
        .annotate(clone->lookupSymbol<func::FuncOp>("main"));
  }
  std::string printed;
  llvm::raw_string_ostream os(printed);
  clone->print(os, OpPrintingFlags().enableDebugInfo());
  return printed;
}

void ProgramMaker::writeConfig() {
  bool isGraph = made.kind == CaseKind::Graph;
  made.config = "[data.inputs]\n";
  for (const std::string &input : inputs)
    made.config += input + " = 0\n";
  if (inputs.empty())
    made.config.clear();
  made.config += "[[init]]\nmatch = \"*\"\nstd = 0.5\n";
  if (!isGraph) {
    const char *optimizers[] = {"sgd", "momentum", "adamw"};
    int64_t optimizer = draw.below(made.kind == CaseKind::Exact ? 2 : 3);
    made.config += std::string("[optimizer]\nname = \"") +
                   optimizers[optimizer] + "\"\nlr = 0.5\n";
    if (optimizer == 1)
      made.config += "momentum = 0.5\n";
    if (optimizer == 2) // a gradient of rounding alone stays small
      made.config += "eps = 0.01\n";
    made.config +=
        "[training]\nmicrobatches = " + std::to_string(1 + draw.below(2)) +
        "\nloss = \"mean of microbatches\"\n";
  }
  made.numDevices = mesh.getNumDevices();
  bool isStaged = draw.oneIn(6) && made.numDevices <= 8;
  bool isNamed =
      isShardy && !isStaged && made.counts["argument"] && draw.oneIn(2);
  if (isNamed) // the text names the axes
    return;
  std::vector<std::string> names;
  for (size_t axis = 0; axis < mesh.getNumAxes(); ++axis) {
    made.mesh.emplace_back(mesh.getName(axis), mesh.getSize(axis));
    names.push_back(mesh.getName(axis));
  }
  if (isStaged) {
    made.numDevices *= 2;
    made.mesh.emplace_back("p", 2);
    names.insert(names.begin() + draw.below(names.size() + 1), "p");
  }
  made.meshConfig = "[mesh]\naxes = [";
  for (const std::string &name : names)
    made.meshConfig += (name == names.front() ? "\"" : ", \"") + name + "\"";
  made.meshConfig +=
      std::string("]\n") + (isStaged ? "pipeline = \"p\"\n" : "");
}

AnnotatedProgram ProgramMaker::make() {
  const CaseKind kinds[] = {CaseKind::Graph, CaseKind::Smooth, CaseKind::Exact,
                            CaseKind::Smooth};
  made.kind = kinds[seed / kMeshes.size() % 4];
  made.counts["model"] = seed / kMeshes.size() % 4 >= 2;
  isShardy = draw.below(5) < 3;
  if (made.counts["model"])
    parseModel();
  else
    parseGraph();
  main.setPublic();
  addCalls();
  if (made.kind != CaseKind::Graph)
    addLoss();
  std::vector<std::string> wholes, others;
  for (const RegionTexts &texts : functions) {
    wholes.push_back(texts.whole);
    others.push_back(isShardy ? texts.sdy : texts.hlo);
  }
  made.plain = print(wholes, /*isPlain=*/true);
  made.annotated = print(others, /*isPlain=*/false);
  writeConfig();
  return made;
}

AnnotatedProgram llmc::test::makeAnnotatedProgram(MLIRContext *context,
                                                  uint64_t seed) {
  return ProgramMaker(context, seed).make();
}

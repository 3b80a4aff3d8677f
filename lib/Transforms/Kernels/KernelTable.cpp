//===- KernelTable.cpp - One kernel for each distinct computation ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two levels: a text of the ops of a kernel, which saves writing it again, and
// the hash of the written code, which names it.
//
// Test: test/Transforms/Kernels/form-kernels.mlir
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"
#include "ElementEvaluator.h"
#include "llmc/Runtime/Base/Hash.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmc::kernels {

/// The module of the kernels, made where there is none.
static ModuleOp getKernels(ModuleOp program) {
  if (auto kernels = program.lookupSymbol<ModuleOp>(KernelTable::moduleName))
    return kernels;
  OpBuilder builder = OpBuilder::atBlockEnd(program.getBody());
  return ModuleOp::create(builder, program.getLoc(), KernelTable::moduleName);
}

KernelTable::KernelTable(ModuleOp program, const KernelTarget &target)
    : kernels(getKernels(program)), tables(kernels), target(target) {}

namespace {

/// The computation of a kernel as text: ops, types and attributes, with values
/// numbered. (Printing an op would number the whole function each time.)
class KeyWriter {
public:
  explicit KeyWriter(llvm::DenseMap<const void *, std::string> &names)
      : names(names), stream(text) {}

  std::string write(const KernelStage &stage);

private:
  unsigned number(Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }
  template <typename T> StringRef name(T typeOrAttribute) {
    std::string &known = names[typeOrAttribute.getAsOpaquePointer()];
    if (known.empty())
      llvm::raw_string_ostream(known) << typeOrAttribute;
    return known;
  }
  void writeOp(Operation &op);

  llvm::DenseMap<const void *, std::string> &names;
  llvm::DenseMap<Value, unsigned> numbers;
  std::string text;
  llvm::raw_string_ostream stream;
};

void KeyWriter::writeOp(Operation &op) {
  for (Value result : op.getResults())
    stream << number(result) << ":" << name(result.getType()) << " ";
  stream << op.getName() << " ";
  for (Value operand : op.getOperands())
    stream << number(operand) << " ";
  // Attributes come in the order of their names; marks do not count.
  for (NamedAttribute attribute : op.getAttrs())
    if (!op.getDiscardableAttr(attribute.getName()))
      stream << attribute.getName().getValue() << "="
             << name(attribute.getValue()) << " ";
  for (Region &region : op.getRegions()) {
    for (Block &block : region) {
      stream << "{";
      for (Value argument : block.getArguments())
        stream << number(argument) << ":" << name(argument.getType()) << " ";
      for (Operation &inner : block)
        writeOp(inner);
      stream << "}";
    }
  }
  stream << "\n";
}

std::string KeyWriter::write(const KernelStage &stage) {
  const KernelSpec &spec = stage.spec;
  stream << unsigned(spec.kind) << " " << unsigned(stage.part) << " "
         << stage.length << "[";
  llvm::interleaveComma(spec.rowShape, stream);
  stream << "]";
  for (Value input : spec.inputs) {
    stream << number(input) << ":" << name(input.getType()) << " ";
    if (dist::CoordinateOp scalar = getScalarInput(input))
      stream << "below " << getNumCoordinates(scalar) << " ";
  }
  for (Operation *op : spec.ops) {
    stream << (spec.aligned.contains(op) ? "" : "~");
    writeOp(*op);
  }
  stream << "->";
  for (Value output : spec.outputs)
    stream << " " << number(output);
  for (ArrayRef<RankedTensorType> types : {stage.taken, stage.made}) {
    stream << ";";
    for (RankedTensorType type : types)
      stream << " " << name(type);
  }
  return text;
}

} // namespace

FailureOr<EmittedKernel> KernelTable::emit(const KernelStage &stage) {
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  return emitKernel(builder, target, tables, stage, "kernel");
}

/// Null for a kernel that is called and not launched.
static dist::LaunchShapeAttr getLaunchShape(MLIRContext *context,
                                            const CallShape &shape) {
  if (shape.rowsPerBlock == 1 && shape.threads == 1 && shape.sharedBytes == 0 &&
      shape.alignment == 1)
    return {};
  return dist::LaunchShapeAttr::get(context, shape.rowsPerBlock, shape.threads,
                                    shape.sharedBytes, shape.alignment);
}

/// Names the kernel and its code by the hash of both.
SymbolRefAttr KernelTable::insert(func::FuncOp function,
                                  ArrayRef<Attribute> arguments, int64_t rows,
                                  const CallShape &shape) {
  MLIRContext *context = function.getContext();
  // In no block yet: to print an op that is in one, MLIR would verify and
  // number all that is isolated with it, the whole module.
  OpBuilder builder(context);
  function.setName("code");
  auto kernel = dist::KernelOp::create(
      builder, function.getLoc(), "kernel", builder.getArrayAttr(arguments),
      target.getName(), rows, shape.scratchBytes,
      getLaunchShape(context, shape), "code");
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation *op : {kernel.getOperation(), function.getOperation()})
    op->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  std::string name = "k_" + rt::hexDigits(rt::hash64(text));
  if (tables.lookup(name)) {
    kernel.erase();
    function.erase();
  } else {
    function->getBlock()->getOperations().insert(function->getIterator(),
                                                 kernel);
    kernel.setSymName(name);
    kernel.setCode(name + "_" + target.getName().str());
    function.setName(kernel.getCode());
    tables.insert(kernel);
    tables.insert(function);
  }
  return SymbolRefAttr::get(StringAttr::get(context, moduleName),
                            {FlatSymbolRefAttr::get(context, name)});
}

SymbolRefAttr KernelTable::finish(EmittedKernel &kernel,
                                  const KernelStage &stage, const Ties &ties) {
  return insert(kernel.function, tieArguments(kernel, stage, ties), kernel.rows,
                kernel.shape);
}

FailureOr<KernelUse> KernelTable::get(
    const KernelStage &stage,
    function_ref<Ties(ArrayRef<std::pair<unsigned, unsigned>>)> chooseTies) {
  std::string key = KeyWriter(names).write(stage);
  auto it = known.find(key);
  FailureOr<EmittedKernel> kernel = failure();
  if (it == known.end()) {
    kernel = emit(stage);
    if (failed(kernel))
      return failure();
    it = known.emplace(key, Known{kernel->tieable, kernel->shape.scratchBytes})
             .first;
  }
  KernelUse use;
  use.scratchBytes = it->second.scratchBytes;
  use.ties = chooseTies(it->second.tieable);
  SymbolRefAttr &symbol = symbols[{key, use.ties}];
  if (!symbol) {
    if (failed(kernel))
      kernel = emit(stage);
    if (failed(kernel))
      return failure();
    symbol = finish(*kernel, stage, use.ties);
  }
  use.symbol = symbol;
  return use;
}

/// An empty kernel of arguments in memory; the builder stands before its end.
static func::FuncOp makeFunction(OpBuilder &builder,
                                 ArrayRef<RankedTensorType> memory,
                                 Location loc) {
  SmallVector<Type> types = llvm::map_to_vector(
      memory, [](RankedTensorType type) { return Type(getFlatMemRef(type)); });
  types.append(2, builder.getIndexType());
  types.push_back(MemRefType::get({0}, builder.getI8Type()));
  auto function = func::FuncOp::create(builder, loc, "kernel",
                                       builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(entry->getTerminator());
  return function;
}

static dist::ArgumentAttr getFlatArgument(RankedTensorType type,
                                          dist::Access access) {
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  return dist::ArgumentAttr::get(type.getContext(), access, flat, 0);
}

SymbolRefAttr KernelTable::getCall(const CallLaunch &launch,
                                   ArrayRef<RankedTensorType> types,
                                   Location loc) {
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  func::FuncOp function = makeFunction(builder, types, loc);
  GridCode code(builder, function, launch.isWide);
  launch.write(code);
  CallShape shape = launch.shape;
  shape.sharedBytes = code.getSharedBytes();
  SmallVector<Attribute> arguments;
  for (auto [memory, type] : llvm::zip_equal(launch.memory, types))
    arguments.push_back(getFlatArgument(type, memory.access));
  return insert(function, arguments, launch.rows, shape);
}

FailureOr<KernelUse> KernelTable::getCopy(RankedTensorType type, Location loc) {
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  func::FuncOp function = makeFunction(builder, {type, type}, loc);
  Block *entry = &function.front();
  std::unique_ptr<KernelWriter> writer = target.makeWriter(builder, function);
  LogicalResult written =
      writer->emitFlat(type.getNumElements(), entry->getArgument(2),
                       entry->getArgument(3), [&](Value at) {
                         Value element = memref::LoadOp::create(
                             builder, loc, entry->getArgument(0), at);
                         memref::StoreOp::create(builder, loc, element,
                                                 entry->getArgument(1), at);
                         return success();
                       });
  if (failed(written)) {
    function.erase();
    return failure();
  }
  SmallVector<Attribute> arguments = {
      getFlatArgument(type, dist::Access::Read),
      getFlatArgument(type, dist::Access::Write)};
  KernelUse use;
  use.symbol =
      insert(function, arguments, type.getNumElements(), writer->getShape());
  return use;
}

} // namespace llmc::kernels

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
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace llmc::kernels {

KernelTable::KernelTable(ModuleOp program) {
  kernels = program.lookupSymbol<ModuleOp>(moduleName);
  if (kernels)
    return;
  OpBuilder builder = OpBuilder::atBlockEnd(program.getBody());
  kernels = ModuleOp::create(builder, program.getLoc(), moduleName);
}

namespace {

/// The computation of a kernel as text: ops, types and attributes, with values
/// numbered. (Printing an op would number the whole function each time.)
class KeyWriter {
public:
  explicit KeyWriter(llvm::DenseMap<const void *, std::string> &names)
      : names(names), stream(text) {}

  std::string write(const KernelSpec &spec);

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

std::string KeyWriter::write(const KernelSpec &spec) {
  stream << unsigned(spec.kind) << "[";
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
  return text;
}

} // namespace

FailureOr<EmittedKernel> KernelTable::emit(const KernelSpec &spec) {
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  return emitKernel(builder, spec, "kernel");
}

SymbolRefAttr KernelTable::insert(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  function.setName("kernel");
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream, OpPrintingFlags().useLocalScope());
  std::string name = "k." + rt::hexDigits(rt::hash64(text));
  if (kernels.lookupSymbol(name))
    function.erase();
  else
    function.setName(name);
  return SymbolRefAttr::get(StringAttr::get(context, moduleName),
                            {FlatSymbolRefAttr::get(context, name)});
}

SymbolRefAttr KernelTable::finish(EmittedKernel &kernel, const KernelSpec &spec,
                                  const Ties &ties) {
  tieArguments(kernel, spec, ties);
  llvm::SmallDenseSet<unsigned> tied;
  for (auto [output, input] : ties)
    tied.insert(output);
  SmallVector<Attribute> types;
  auto addType = [&](Value value) {
    types.push_back(TypeAttr::get(getElementTypeOrSelf(value.getType())));
  };
  llvm::for_each(spec.inputs, addType);
  for (auto [number, output] : llvm::enumerate(spec.outputs))
    if (!tied.contains(number))
      addType(output);
  kernel.function->setAttr("llmc.types",
                           ArrayAttr::get(kernels.getContext(), types));
  return insert(kernel.function);
}

FailureOr<KernelUse> KernelTable::get(
    const KernelSpec &spec,
    function_ref<Ties(ArrayRef<std::pair<unsigned, unsigned>>)> chooseTies) {
  std::string key = KeyWriter(names).write(spec);
  auto it = known.find(key);
  FailureOr<EmittedKernel> kernel = failure();
  if (it == known.end()) {
    kernel = emit(spec);
    if (failed(kernel))
      return failure();
    it = known.emplace(key, Known{kernel->tieable, kernel->scratchBytes}).first;
  }
  KernelUse use;
  use.scratchBytes = it->second.scratchBytes;
  use.ties = chooseTies(it->second.tieable);
  SymbolRefAttr &symbol = symbols[{key, use.ties}];
  if (!symbol) {
    if (failed(kernel))
      kernel = emit(spec);
    if (failed(kernel))
      return failure();
    symbol = finish(*kernel, spec, use.ties);
  }
  use.symbol = symbol;
  return use;
}

KernelUse KernelTable::getCopy(RankedTensorType type, Location loc) {
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  MemRefType memref = getFlatMemRef(type);
  Type index = builder.getIndexType();
  auto scratch = MemRefType::get({0}, builder.getI8Type());
  auto function = func::FuncOp::create(
      builder, loc, "kernel",
      builder.getFunctionType({memref, memref, index, index, scratch}, {}));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, entry->getArgument(2),
                                 entry->getArgument(3), one);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value element =
      memref::LoadOp::create(builder, loc, entry->getArgument(0), at);
  memref::StoreOp::create(builder, loc, element, entry->getArgument(1), at);
  Attribute elementType = TypeAttr::get(type.getElementType());
  function->setAttr("llmc.kernel", builder.getUnitAttr());
  function->setAttr("llmc.access", builder.getStrArrayAttr({"read", "write"}));
  function->setAttr("llmc.types",
                    builder.getArrayAttr({elementType, elementType}));
  function->setAttr("llmc.rows",
                    builder.getI64IntegerAttr(type.getNumElements()));
  function->setAttr("llmc.scratch", builder.getI64IntegerAttr(0));
  KernelUse use;
  use.symbol = insert(function);
  return use;
}

} // namespace llmc::kernels

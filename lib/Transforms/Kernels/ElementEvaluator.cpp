//===- ElementEvaluator.cpp - Elements of graph values in a loop ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions are recognised rather than recomputed: indices that are exactly
// those of the loop nest become row * columns + column, so that purely
// element-wise code has one linear address and no division.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "ElementEvaluator.h"
#include "llmc/Analysis/KernelFormation/KernelFormation.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace llmc::kernels {

Type getScalarType(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!integer)
    return getElementTypeOrSelf(type);
  return IntegerType::get(type.getContext(), integer.getWidth());
}

Type getMemoryType(Type type) {
  return llmc::getMemoryType(getElementTypeOrSelf(type));
}

MemRefType getFlatMemRef(RankedTensorType type) {
  return MemRefType::get({type.getNumElements()}, getMemoryType(type));
}

int64_t getNumElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Value IndexMath::constant(int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value IndexMath::add(Value a, Value b) const {
  if (matchPattern(a, m_Zero()))
    return b;
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value IndexMath::mul(Value a, int64_t factor) const {
  if (factor == 1)
    return a;
  return builder.createOrFold<arith::MulIOp>(loc, a, constant(factor));
}

Value IndexMath::div(Value a, int64_t divisor) const {
  if (divisor == 1)
    return a;
  if (divisor == 0) // of an empty shape, which no loop enters
    return constant(0);
  return builder.createOrFold<arith::DivUIOp>(loc, a, constant(divisor));
}

Value IndexMath::rem(Value a, int64_t divisor) const {
  if (divisor <= 1)
    return constant(0);
  return builder.createOrFold<arith::RemUIOp>(loc, a, constant(divisor));
}

SmallVector<Value> IndexMath::delinearize(Value flat,
                                          ArrayRef<int64_t> shape) const {
  SmallVector<Value> indices(shape.size());
  int64_t outermost = -1;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (outermost < 0 && size != 1)
      outermost = dim;
  Value rest = flat;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    if (shape[dim] == 1) {
      indices[dim] = constant(0);
    } else if (dim == outermost) {
      indices[dim] = rest;
    } else {
      indices[dim] = rem(rest, shape[dim]);
      rest = div(rest, shape[dim]);
    }
  }
  return indices;
}

SmallVector<Value> LoopSpace::getIndices() const {
  SmallVector<Value> indices(rowIndices);
  indices.append(innerIndices);
  return indices;
}

void ElementEvaluator::enter(LoopSpace newSpace) {
  space = std::move(newSpace);
  memo.clear();
  ++loopNumber;
}

/// True when `indices` of dimensions `shape` are `expected` of the same sizes.
/// A dimension of size 1 has one index, whatever value stands for it.
static bool matches(ArrayRef<int64_t> shape, ArrayRef<Value> indices,
                    ArrayRef<int64_t> expectedShape, ArrayRef<Value> expected) {
  if (shape != expectedShape)
    return false;
  for (auto [size, index, other] : llvm::zip(shape, indices, expected))
    if (size != 1 && index != other)
      return false;
  return true;
}

Value ElementEvaluator::linearize(ArrayRef<int64_t> shape, ValueRange range,
                                  bool &inPlace) {
  IndexMath math{builder, loc};
  SmallVector<Value> indices(range);
  size_t rank = shape.size(), dim = 0;
  size_t rows = space.rowShape.size(), inner = space.innerShape.size();
  Value flat;
  bool onRow = !space.row;
  if (space.row && rank >= rows &&
      matches(shape.take_front(rows), ArrayRef(indices).take_front(rows),
              space.rowShape, space.rowIndices)) {
    flat = space.row;
    dim = rows;
    onRow = true;
  }
  bool onInner =
      space.inner && rank >= dim + inner &&
      matches(shape.take_back(inner), ArrayRef(indices).take_back(inner),
              space.innerShape, space.innerIndices);
  size_t end = onInner ? rank - inner : rank;
  inPlace = onRow && (onInner || !space.inner) &&
            getNumElements(shape.slice(dim, end - dim)) == 1;
  for (; dim < end; ++dim) {
    if (shape[dim] == 1)
      continue;
    flat = flat ? math.add(math.mul(flat, shape[dim]), indices[dim])
                : indices[dim];
  }
  if (onInner)
    flat = flat ? math.add(math.mul(flat, getNumElements(space.innerShape)),
                           space.inner)
                : space.inner;
  return flat ? flat : math.constant(0);
}

Value ElementEvaluator::load(Value memref, Type type, Value position) {
  Value raw = memref::LoadOp::create(builder, loc, memref, position);
  Type scalar = getScalarType(type);
  if (raw.getType() == scalar)
    return raw;
  if (scalar.isInteger(1)) {
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(raw.getType(), 0));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, raw,
                                 zero);
  }
  if (isa<IntegerType>(scalar))
    return arith::TruncIOp::create(builder, loc, scalar, raw);
  return arith::BitcastOp::create(builder, loc, scalar, raw);
}

void ElementEvaluator::store(Value memref, Type type, Value scalar,
                             Value position) {
  Type memory = cast<MemRefType>(memref.getType()).getElementType();
  bool isUnsigned = getElementTypeOrSelf(type).isUnsignedInteger();
  if (scalar.getType().isInteger(1) ||
      (scalar.getType() != memory && isUnsigned))
    scalar = arith::ExtUIOp::create(builder, loc, memory, scalar);
  else if (scalar.getType() != memory && isa<IntegerType>(scalar.getType()))
    scalar = arith::ExtSIOp::create(builder, loc, memory, scalar);
  else if (scalar.getType() != memory)
    scalar = arith::BitcastOp::create(builder, loc, memory, scalar);
  memref::StoreOp::create(builder, loc, scalar, memref, position);
}

Value *
ElementEvaluator::findMemo(const std::pair<void *, SmallVector<void *>> &key) {
  auto it = memo.find(key);
  if (it == memo.end())
    return nullptr;
  Block *made = it->second.second;
  Operation *here = builder.getInsertionBlock()->getParentOp();
  bool visible = made == builder.getInsertionBlock() ||
                 (here && made->findAncestorOpInBlock(*here));
  return visible ? &it->second.first : nullptr;
}

/// The constant elements of `value` as a flat tensor of memory's type; null
/// when it is no constant or one number.
static DenseElementsAttr getTableElements(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.isSplat() ||
      elements.getNumElements() < 2)
    return {};
  FailureOr<HostTensor> tensor = HostTensor::fromAttribute(elements);
  if (failed(tensor))
    return {};
  auto type = RankedTensorType::get({tensor->getNumElements()},
                                    getMemoryType(value.getType()));
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef(tensor->bytes(), tensor->getNumBytes()));
}

/// Data of the kernel object, under the name of its contents.
static memref::GlobalOp makeGlobal(SymbolTable &symbols,
                                   DenseElementsAttr elements, Location loc) {
  ArrayRef<char> data = elements.getRawData();
  std::string type;
  llvm::raw_string_ostream(type) << elements.getType();
  std::string name = "t_" + rt::hexDigits(rt::hash64(data.data(), data.size(),
                                                     rt::hash64(type)));
  if (auto known = symbols.lookup<memref::GlobalOp>(name))
    return known;
  OpBuilder builder =
      OpBuilder::atBlockBegin(&symbols.getOp()->getRegion(0).front());
  auto memref =
      MemRefType::get(elements.getType().getShape(), elements.getElementType());
  auto global = memref::GlobalOp::create(
      builder, loc, name, builder.getStringAttr("private"), memref, elements,
      /*constant=*/true, builder.getI64IntegerAttr(64));
  symbols.insert(global);
  return global;
}

/// The table of a constant, at hand in all of the kernel; null for a value that
/// needs none.
Value ElementEvaluator::getTable(Value value) {
  if (Value table = tables.lookup(value))
    return table;
  DenseElementsAttr elements = getTableElements(value);
  if (!elements)
    return {};
  Operation *around = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(around);
  if (!function)
    function = around->getParentOfType<func::FuncOp>();
  memref::GlobalOp global = makeGlobal(symbols, elements, loc);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  return tables[value] = memref::GetGlobalOp::create(
             builder, loc, global.getType(), global.getSymName());
}

Value ElementEvaluator::getOperand(Operation *op, unsigned operand,
                                   ValueRange indices) {
  return get(op->getOperand(operand), indices);
}

Value ElementEvaluator::get(Value value, ValueRange indices) {
  if (Value scalar = scalars.lookup(value))
    return scalar;
  if (Value scalar = rowScalars.lookup(value))
    return scalar;
  std::pair<void *, SmallVector<void *>> key(value.getAsOpaquePointer(), {});
  for (Value index : indices)
    key.second.push_back(index.getAsOpaquePointer());
  if (Value *known = findMemo(key))
    return *known;

  Value result = compute(value, indices);
  if (result)
    memo[key] = {result, builder.getInsertionBlock()};
  return result;
}

/// The element of a row that is kept by inner position.
Value ElementEvaluator::loadFromRow(Value scratch, RankedTensorType type,
                                    ValueRange indices) {
  bool inPlace = false;
  linearize(type.getShape(), indices, inPlace);
  if (inPlace)
    return load(scratch, type, space.inner);
  IndexMath math{builder, loc};
  Value position = math.constant(0);
  for (int64_t dim = space.rowShape.size(); dim < type.getRank(); ++dim)
    position = math.add(math.mul(position, type.getDimSize(dim)), indices[dim]);
  return load(scratch, type, position);
}

Value ElementEvaluator::compute(Value value, ValueRange indices) {
  auto type = cast<RankedTensorType>(value.getType());
  // Of an empty tensor: code around it chooses another operand.
  if (type.getNumElements() == 0)
    return arith::ConstantOp::create(builder, loc,
                                     builder.getZeroAttr(getScalarType(type)));
  if (Value scratch = scratchRows.lookup(value))
    return loadFromRow(scratch, type, indices);
  bool inPlace = false;
  if (Value buffer = buffers.lookup(value)) {
    Value position = linearize(type.getShape(), indices, inPlace);
    BufferUse &use = uses[value];
    use.onlyInPlace &= inPlace;
    use.lastLoop = loopNumber;
    use.lastRead = numReads++;
    return load(buffer, type, position);
  }
  if (Value table = getTable(value))
    return load(table, type, linearize(type.getShape(), indices, inPlace));
  return getFromOp(value, indices);
}

Value ElementEvaluator::getFromOp(Value value, ValueRange indices) {
  Operation *op = value.getDefiningOp();
  auto kernel = dyn_cast_or_null<graph::KernelOpInterface>(op);
  if (!kernel) {
    emitError(value.getLoc(), "expected a value in memory or of an op with a "
                              "kernel answer, got ")
        << value;
    return {};
  }
  if (kernel.getKernelForm() == graph::KernelForm::Alias)
    return getThroughAlias(value, indices);
  if (!isElementwise(op)) {
    op->emitError("expected an element-wise op inside a kernel, got '")
        << op->getName() << "'";
    return {};
  }
  bool failed = false;
  auto source = [&](unsigned operand, ValueRange at) -> Value {
    Value element = get(op->getOperand(operand), at);
    if (element)
      return element;
    failed = true;
    // Keeps the op's own code well formed; the kernel is dropped.
    Type type = getScalarType(op->getOperand(operand).getType());
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  };
  unsigned number = cast<OpResult>(value).getResultNumber();
  Value element =
      kernel.getKernelForm() == graph::KernelForm::Reduction
          ? getThroughReduction(kernel, number, indices, source)
          : kernel.emitElement(builder, loc, number, indices, source);
  if (!element && !failed)
    op->emitError("expected scalar code for '")
        << op->getName() << "', got none";
  return failed ? Value() : element;
}

/// A reduction over dims of size 1: one combining step.
Value ElementEvaluator::getThroughReduction(graph::KernelOpInterface op,
                                            unsigned number, ValueRange indices,
                                            graph::ElementSource source) {
  graph::ReductionShape shape = op.getReduction();
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  IndexMath math{builder, loc};
  SmallVector<Value> at;
  size_t next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    at.push_back(llvm::is_contained(shape.dims, dim) ? math.constant(0)
                                                     : indices[next++]);
  SmallVector<Value> initial, elements;
  for (unsigned i = 0; i < shape.numInputs; ++i) {
    elements.push_back(source(i, at));
    initial.push_back(source(shape.numInputs + i, {}));
  }
  SmallVector<Value> combined = op.emitCombine(builder, loc, initial, elements);
  return number < combined.size() ? combined[number] : Value();
}

/// Dimensions of two shapes of equal size fall into groups of equal products:
/// [8, 128, 384] and [8, 128, 4, 96] into {8 | 8} {128 | 128} {384 | 4, 96}.
Value ElementEvaluator::getThroughAlias(Value value, ValueRange indices) {
  Operation *op = value.getDefiningOp();
  auto kernel = cast<graph::KernelOpInterface>(op);
  unsigned number = cast<OpResult>(value).getResultNumber();
  Value source = op->getOperand(kernel.getAliasedOperand(number));
  auto toType = cast<RankedTensorType>(value.getType());
  auto fromType = cast<RankedTensorType>(source.getType());
  ArrayRef<int64_t> to = toType.getShape(), from = fromType.getShape();
  IndexMath math{builder, loc};
  SmallVector<Value> mapped;
  size_t a = 0, b = 0;
  while (a < to.size() || b < from.size()) {
    size_t firstA = a, firstB = b;
    int64_t sizeA = a < to.size() ? to[a++] : 1;
    int64_t sizeB = b < from.size() ? from[b++] : 1;
    while (sizeA != sizeB) {
      if (sizeA < sizeB)
        sizeA *= to[a++];
      else
        sizeB *= from[b++];
    }
    Value flat = math.constant(0);
    for (size_t dim = firstA; dim < a; ++dim)
      if (to[dim] != 1)
        flat = math.add(math.mul(flat, to[dim]), indices[dim]);
    SmallVector<Value> group =
        math.delinearize(flat, from.slice(firstB, b - firstB));
    mapped.append(group);
  }
  Value element = get(source, mapped);
  Type scalar = getScalarType(toType);
  if (element && element.getType() != scalar)
    element = arith::BitcastOp::create(builder, loc, scalar, element);
  return element;
}

} // namespace llmc::kernels

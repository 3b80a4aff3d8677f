//===- StoredElements.cpp - Element types that engines hold ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StoredElements.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/StoredElements.h"
#include "llmc/Support/GraphTensor.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc;

static std::optional<rt::DType> getIntegerDType(IntegerType type) {
  if (type.isInteger(1))
    return type.isSignless() ? std::optional(rt::DType::i1) : std::nullopt;
  if (type.isSigned())
    return std::nullopt;
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 4:
    return isUnsigned ? rt::DType::u4 : rt::DType::i4;
  case 8:
    return isUnsigned ? rt::DType::u8 : rt::DType::i8;
  case 16:
    return isUnsigned ? rt::DType::u16 : rt::DType::i16;
  case 32:
    return isUnsigned ? rt::DType::u32 : rt::DType::i32;
  case 64:
    return isUnsigned ? rt::DType::u64 : rt::DType::i64;
  default:
    return std::nullopt;
  }
}

std::optional<rt::DType> llmc::getRuntimeDType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return getIntegerDType(integer);
  if (element.isF64())
    return rt::DType::f64;
  if (element.isF32())
    return rt::DType::f32;
  if (element.isBF16())
    return rt::DType::bf16;
  if (element.isF16())
    return rt::DType::f16;
  return llvm::TypeSwitch<Type, std::optional<rt::DType>>(element)
      .Case([](Float8E4M3FNType) { return rt::DType::f8E4M3FN; })
      .Case([](Float8E5M2Type) { return rt::DType::f8E5M2; })
      .Case([](Float8E4M3FNUZType) { return rt::DType::f8E4M3FNUZ; })
      .Case([](Float8E5M2FNUZType) { return rt::DType::f8E5M2FNUZ; })
      .Case([](Float8E4M3B11FNUZType) { return rt::DType::f8E4M3B11FNUZ; })
      .Default(std::nullopt);
}

Type llmc::getMemoryType(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return element;
  return IntegerType::get(element.getContext(),
                          std::max(integer.getWidth(), 8u));
}

/// Types without elements (symbols, tokens of a dialect) are no business of
/// this check.
/// Complex elements are those that a text may have, where `isText`.
static bool isStored(Type type, bool isText) {
  auto isStored = [&](Type part) { return ::isStored(part, isText); };
  if (auto function = dyn_cast<FunctionType>(type))
    return llvm::all_of(function.getInputs(), isStored) &&
           llvm::all_of(function.getResults(), isStored);
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::all_of(tuple.getTypes(), isStored);
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = shaped ? shaped.getElementType() : type;
  if (isa<IntegerType, FloatType, ComplexType>(element) || shaped)
    return isa<IndexType>(element) || getRuntimeDType(element) ||
           (isText && isComplexElement(element));
  return true;
}

static LogicalResult refuse(Operation *op, const Twine &what, Type type) {
  return emitRefusal(op, rt::ErrorKind::unsupported)
         << "expected " << what
         << " of f64, f32, bf16, f16, floats of 8 bits, i1 or integers of 4, "
            "8, "
            "16, 32 or 64 bits, got "
         << type << ", which is not supported";
}

static LogicalResult verifyOp(Operation *op, bool isText) {
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (!isStored(type, isText))
      return refuse(op, "result #" + Twine(i), type);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (auto [i, type] : llvm::enumerate(block.getArgumentTypes()))
        if (!isStored(type, isText))
          return refuse(op, "argument #" + Twine(i), type);
  // Signatures of declarations, states, hyper values.
  if (!isa<SymbolOpInterface>(op))
    return success();
  for (NamedAttribute attribute : op->getAttrs())
    if (auto type = dyn_cast<TypeAttr>(attribute.getValue());
        type && !isStored(type.getValue(), isText))
      return refuse(op, "'" + attribute.getName().getValue() + "'",
                    type.getValue());
  return success();
}

static LogicalResult verifyAll(Operation *root, bool isText) {
  WalkResult walked = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(verifyOp(op, isText)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult llmc::verifyStoredElements(Operation *root) {
  return verifyAll(root, /*isText=*/false);
}

LogicalResult llmc::verifyTextElements(Operation *root) {
  return verifyAll(root, /*isText=*/true);
}

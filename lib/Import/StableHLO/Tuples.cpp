//===- Tuples.cpp - A function without tuples -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Older texts return tuples, and read the elements of those that other
// functions returned. Calls are inlined, so each element is a value.
//
//   return %t : tuple<A, B>   ->   return %a, %b : A, B
//
// Test: test/Import/StableHLO/tuples.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// Appends the elements of `value`, and those of the tuples among them.
static void appendElements(Value value, SmallVectorImpl<Value> &elements) {
  if (auto tuple = value.getDefiningOp<stablehlo::TupleOp>())
    for (Value element : tuple.getValues())
      appendElements(element, elements);
  else
    elements.push_back(value);
}

/// What is said of a result that is no tuple, of its place from now on.
static ArrayAttr moveAttributes(func::FuncOp main, Operation *end) {
  SmallVector<Attribute> moved;
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    SmallVector<Value> elements;
    appendElements(value, elements);
    Attribute own = main.getResultAttrDict(i);
    Attribute none = DictionaryAttr::get(main.getContext());
    bool isTuple = isa<TupleType>(value.getType());
    moved.append(elements.size(), own && !isTuple ? own : none);
  }
  return ArrayAttr::get(main.getContext(), moved);
}

static void flattenReturn(func::FuncOp main) {
  Operation *end = main.getBody().front().getTerminator();
  auto isTuple = [](Type type) { return isa<TupleType>(type); };
  if (llvm::none_of(end->getOperandTypes(), isTuple))
    return;
  ArrayAttr attributes = moveAttributes(main, end);
  SmallVector<Value> results;
  SmallVector<Value> returned(end->getOperands());
  for (Value value : returned)
    appendElements(value, results);
  end->setOperands(results);
  main.setType(FunctionType::get(main.getContext(), main.getArgumentTypes(),
                                 TypeRange(ValueRange(results))));
  main.setResAttrsAttr(attributes);
  for (Value value : returned)
    if (Operation *tuple = value.getDefiningOp())
      if (isa<stablehlo::TupleOp>(tuple) && tuple->use_empty())
        graph::eraseWithOperands(tuple);
}

rt::Status import::flattenTuples(func::FuncOp main) {
  if (!main.getBody().hasOneBlock())
    return rt::Status::success(); // checkGraph says so
  FirstError error(*main.getContext());
  SmallVector<stablehlo::GetTupleElementOp> reads;
  main.walk([&](stablehlo::GetTupleElementOp op) { reads.push_back(op); });
  for (stablehlo::GetTupleElementOp op : reads)
    if (failed(graph::settle(op)))
      return error.status(ErrorKind::internal, "a tuple was not taken apart");
  flattenReturn(main);
  return rt::Status::success();
}

//===- Annotator.h - Random annotations of a function -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shardings on arguments, results and values, groups and barriers, as ops and
// attributes of `sdy` or as strings and custom calls.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_ANNOTATOR_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_ANNOTATOR_H

#include "TextShardings.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace llmc::test {

class Annotator {
public:
  Annotator(const text::TextMesh &mesh, text::Draw &draw, bool isShardy,
            std::map<std::string, int> &counts)
      : mesh(mesh), draw(draw), isShardy(isShardy), counts(counts) {}

  void annotate(mlir::func::FuncOp function);

private:
  void annotateSignature(mlir::func::FuncOp function);
  void annotate(Operation *op);
  void constrain(mlir::Value value);
  void addGroup(ArrayRef<mlir::Value> values);
  void addBarrier(mlir::Value value);
  mlir::Value call(mlir::Value value, const std::string &sharding,
                   const std::string &open);
  mlir::NamedAttribute makeAttribute(ArrayRef<mlir::Type> types, bool isOp);
  text::TextSharding drawFor(mlir::Type type);

  const text::TextMesh &mesh;
  text::Draw &draw;
  bool isShardy;
  std::map<std::string, int> &counts;
};

} // namespace llmc::test

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_ANNOTATOR_H

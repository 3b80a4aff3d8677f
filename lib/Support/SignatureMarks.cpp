//===- SignatureMarks.cpp - Attributes of arguments and results -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/SignatureMarks.h"

using namespace mlir;
using namespace llmc;

SignatureMarks::SignatureMarks(FunctionOpInterface function)
    : function(function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.emplace_back(function.getArgAttrDict(i));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    results.emplace_back(function.getResultAttrDict(i));
}

void SignatureMarks::write() {
  MLIRContext *context = function.getContext();
  SmallVector<DictionaryAttr> ofArguments, ofResults;
  for (NamedAttrList &marks : arguments)
    ofArguments.push_back(marks.getDictionary(context));
  for (NamedAttrList &marks : results)
    ofResults.push_back(marks.getDictionary(context));
  function.setAllArgAttrs(ofArguments);
  function.setAllResultAttrs(ofResults);
}

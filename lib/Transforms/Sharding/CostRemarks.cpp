//===- CostRemarks.cpp - What a program costs, a line for equal facts -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CostRemarks.h.
//
//===----------------------------------------------------------------------===//

#include "CostRemarks.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Support/FirstError.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;

bool llmc::wantsRemarks(MLIRContext &context) {
  return context.getRemarkEngine() != nullptr;
}

void CostRemarks::add(StringRef name, Location loc, const std::string &text) {
  std::string place = describeLocation(loc), hidden = rt::hideNumbers(text);
  // A quoted place is an argument's name, which has the number too.
  if (StringRef(place).starts_with("\""))
    place.clear();
  auto [known, isNew] = numbers.try_emplace(
      (name + "\n" + place + "\n" + hidden).str(), facts.size());
  if (isNew)
    facts.push_back({name.str(), loc, text});
  Fact &fact = facts[known->second];
  ++fact.times;
  if (fact.text != text)
    fact.text = hidden;
}

void CostRemarks::emit() const {
  for (const Fact &fact : facts)
    remark::analysis(fact.loc,
                     remark::RemarkOpts::name(fact.name).category(category))
        << fact.text + (fact.times == 1
                            ? ""
                            : " (" + std::to_string(fact.times) + " times)");
}

//===- Einsum.cpp - Sums of products by named dimensions ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   "bij,bjk->bik"    operands from left to right; what neither the result nor
//                     a later operand names is summed as soon as it can be
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// A letter, or a dimension of "...", counted from the last.
using Label = int;
using Labels = SmallVector<Label>;
constexpr Label kEllipsis = 256;

/// A tensor with the names of its dimensions.
struct Term {
  Value value;
  Labels labels;
};

class EinsumBuilder {
public:
  explicit EinsumBuilder(NodeImport &node)
      : node(node), b(node.b), loc(node.loc) {}
  rt::Result<Value> build();

private:
  rt::Result<Labels> parse(StringRef text, int64_t rank, bool isOperand);
  rt::Status parseOperands(StringRef text);
  rt::Status parseResult(StringRef equation);
  rt::Status checkSizes();
  void takeDiagonals(Term &term);
  void sumUnneeded(Term &term, size_t next);
  Term contract(Term x, Term y, size_t next);
  Term contractAll();
  bool isNeeded(Label label, size_t next) const;
  int64_t positionOf(const Term &term, Label label) const {
    return llvm::find(term.labels, label) - term.labels.begin();
  }
  int64_t sizeOf(const Term &term, Label label) const {
    return shapeOf(term.value)[positionOf(term, label)];
  }

  NodeImport &node;
  OpBuilder &b;
  Location loc;
  SmallVector<Term> terms;
  Labels result;
  int64_t mostEllipsis = 0;
  std::map<Label, int64_t> sizes;
};
} // namespace

rt::Result<Labels> EinsumBuilder::parse(StringRef text, int64_t rank,
                                        bool isOperand) {
  Labels labels;
  int64_t letters = llvm::count_if(text, llvm::isAlpha);
  while (!text.empty()) {
    if (text.consume_front("...")) {
      int64_t count = isOperand ? rank - letters : mostEllipsis;
      for (int64_t i = count; i-- > 0;)
        labels.push_back(kEllipsis + static_cast<Label>(i));
      mostEllipsis = std::max(mostEllipsis, count);
      continue;
    }
    if (!llvm::isAlpha(text.front()))
      return node.refuse("expected letters and '...' in an equation, got '" +
                         text.str() + "'");
    labels.push_back(text.front());
    text = text.drop_front();
  }
  if (isOperand && static_cast<int64_t>(labels.size()) != rank)
    return node.refuse("expected a letter for each of " + std::to_string(rank) +
                       " dimensions, got " + std::to_string(labels.size()));
  return labels;
}

rt::Status EinsumBuilder::parseOperands(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  if (parts.size() != node.numInputs())
    return node.refuse("expected an equation of " +
                       std::to_string(node.numInputs()) + " operands, got " +
                       std::to_string(parts.size()));
  for (auto [i, part] : llvm::enumerate(parts)) {
    LLMC_TRY_ASSIGN(Labels labels, parse(part, node.rank(i), true));
    terms.push_back({node.input(i), labels});
  }
  return rt::Status::success();
}

/// Without "->" the result has what occurs once, in alphabetical order.
rt::Status EinsumBuilder::parseResult(StringRef equation) {
  if (equation.contains("->")) {
    LLMC_TRY_ASSIGN(result, parse(equation.split("->").second, 0, false));
  } else {
    std::map<Label, int> counts;
    for (const Term &term : terms)
      for (Label label : term.labels)
        ++counts[label];
    for (int64_t i = mostEllipsis; i-- > 0;)
      result.push_back(kEllipsis + static_cast<Label>(i));
    for (auto [label, count] : counts)
      if (count == 1 && label < kEllipsis)
        result.push_back(label);
  }
  Labels seen;
  for (Label label : result) {
    bool isKnown = llvm::any_of(terms, [&](const Term &term) {
      return llvm::is_contained(term.labels, label);
    });
    if (!isKnown || llvm::is_contained(seen, label))
      return node.refuse("expected a result of letters of the operands, each "
                         "once, got '" +
                         equation.str() + "'");
    seen.push_back(label);
  }
  return rt::Status::success();
}

rt::Status EinsumBuilder::checkSizes() {
  for (const Term &term : terms)
    for (auto [label, size] :
         llvm::zip_equal(term.labels, shapeOf(term.value))) {
      int64_t &known = sizes.try_emplace(label, size).first->second;
      bool mayRepeat = known == 1 || size == 1;
      if (known != size && !mayRepeat)
        return node.refuse("expected one size for each letter, got " +
                           std::to_string(known) + " and " +
                           std::to_string(size));
      known = std::max(known, size);
    }
  return rt::Status::success();
}

/// Of a letter that occurs twice in one operand only equal places count.
void EinsumBuilder::takeDiagonals(Term &term) {
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t k = term.labels.size(); k-- > i + 1;) {
      if (term.labels[i] != term.labels[k])
        continue;
      auto type = cast<RankedTensorType>(term.value.getType());
      auto places = cast<RankedTensorType>(type.clone(b.getI64Type()));
      Value is = hlo::compare(b, loc, hlo::ComparisonDirection::EQ,
                              hlo::iota(b, loc, places, i),
                              hlo::iota(b, loc, places, k));
      Value zero = hlo::constantLike(b, loc, term.value, 0);
      Value kept = hlo::select(b, loc, is, term.value, zero);
      term.value = hlo::reduceAdd(b, loc, kept, {static_cast<int64_t>(k)});
      term.labels.erase(term.labels.begin() + static_cast<ptrdiff_t>(k));
    }
}

bool EinsumBuilder::isNeeded(Label label, size_t next) const {
  if (llvm::is_contained(result, label))
    return true;
  for (size_t i = next; i < terms.size(); ++i)
    if (llvm::is_contained(terms[i].labels, label))
      return true;
  return false;
}

/// Sums what is named nowhere else, and drops dimensions of size 1 that are
/// wider elsewhere.
void EinsumBuilder::sumUnneeded(Term &term, size_t next) {
  SmallVector<int64_t> summed;
  Labels kept;
  for (auto [i, label] : llvm::enumerate(term.labels)) {
    bool isRepeated = shapeOf(term.value)[i] == 1 && sizes[label] != 1;
    if (isNeeded(label, next) && !isRepeated)
      kept.push_back(label);
    else
      summed.push_back(static_cast<int64_t>(i));
  }
  term.value = hlo::reduceAdd(b, loc, term.value, summed);
  term.labels = kept;
}

Term EinsumBuilder::contract(Term x, Term y, size_t next) {
  SmallVector<int64_t> left[2], right[2];
  Labels labels, freeLabels;
  for (Label label : x.labels) {
    if (!llvm::is_contained(y.labels, label)) {
      freeLabels.push_back(label);
      continue;
    }
    bool isBatch = isNeeded(label, next);
    left[isBatch].push_back(positionOf(x, label));
    right[isBatch].push_back(positionOf(y, label));
    if (isBatch)
      labels.push_back(label);
  }
  for (Label label : y.labels)
    if (!llvm::is_contained(x.labels, label))
      freeLabels.push_back(label);
  labels.append(freeLabels);
  Value product = hlo::dotGeneral(
      b, loc, x.value, y.value,
      hlo::dotDims(b.getContext(), left[1], right[1], left[0], right[0]));
  return {product, labels};
}

/// What is in one of two operands alone, and named nowhere later, is summed
/// before they are multiplied.
Term EinsumBuilder::contractAll() {
  Term all = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) {
    Term other = terms[i];
    Labels leftLabels = all.labels, rightLabels = other.labels;
    auto sumAlone = [&](Term &term, const Labels &others) {
      Labels before = result;
      result.append(others);
      sumUnneeded(term, i + 1);
      result = before;
    };
    sumAlone(all, rightLabels);
    sumAlone(other, leftLabels);
    all = contract(all, other, i + 1);
  }
  return all;
}

rt::Result<Value> EinsumBuilder::build() {
  std::string equation;
  for (char c : node.getText("equation", ""))
    if (c != ' ')
      equation += c;
  StringRef text = equation;
  LLMC_TRY(parseOperands(text.split("->").first));
  LLMC_TRY(parseResult(text));
  LLMC_TRY(checkSizes());
  for (Term &term : terms)
    takeDiagonals(term);
  Term all = contractAll();
  sumUnneeded(all, terms.size());
  // A dimension that was 1 everywhere it is left is repeated again.
  SmallVector<int64_t> order, places, shape;
  for (Label label : result) {
    shape.push_back(sizes[label]);
    if (llvm::is_contained(all.labels, label)) {
      order.push_back(positionOf(all, label));
      places.push_back(static_cast<int64_t>(shape.size()) - 1);
    }
  }
  Value moved = hlo::transpose(b, loc, all.value, order);
  if (shapeOf(moved) == ArrayRef<int64_t>(shape))
    return moved;
  return hlo::broadcastInDim(
      b, loc, moved, RankedTensorType::get(shape, elementOf(moved)), places);
}

static rt::Status importEinsum(NodeImport &node) {
  LLMC_TRY_ASSIGN(Value value, EinsumBuilder(node).build());
  return node.finish({value});
}

void onnx::addEinsumOps(OpTable &table) {
  table["Einsum"] = {importEinsum, 1, kAny, kNewestKnown};
}

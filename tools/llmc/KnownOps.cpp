//===- KnownOps.cpp - All ops that llmc knows -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What llmc has of an op is asked of the op's registration and interfaces.
// docs/ops.md is made of this list.
//
// Test: test/Tools/llmc/known-ops.test
//===----------------------------------------------------------------------===//

#include "Driver/Compile.h"
#include "Ops.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/Graph/IR/KernelForms.h"
#include "llmc/Dialect/StableHLO/IR/Versions.h"
#include "llmc/Import/Onnx/Import.h"
#include "llmc/Import/StableHLO/Import.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using graph::Answer;

namespace {
struct AnswerCell {
  Answer answer;
  bool isThere;
  /// Of one that is not there.
  StringRef reason;
};

struct KnownOp {
  StringRef name;
  /// "answers", "other ops", "manual regions" or "read".
  StringRef use;
  /// The version of StableHLO that had it first; "" for ops of no version.
  StringRef since;
  SmallVector<AnswerCell, 5> answers;
  SmallVector<graph::KernelForm> forms;
};
} // namespace

static constexpr Answer kAnswers[] = {Answer::Rule, Answer::Derivative,
                                      Answer::Cost, Answer::Kernel,
                                      Answer::Evaluation};

/// How programs have the op; "" for what only later phases make of programs.
static StringRef findUse(RegisteredOperationName op) {
  if (op.hasInterface<graph::ExpansionOpInterface>())
    return "other ops";
  if (op.hasInterface<graph::DeviceOpInterface>())
    return "manual regions";
  if (llvm::any_of(kAnswers,
                   [&](Answer answer) { return hasAnswer(op, answer); }))
    return "answers";
  return import::getUse(op) == import::OpUse::Read ? "read" : "";
}

static KnownOp describe(RegisteredOperationName op, StringRef use) {
  StringRef name = op.getStringRef();
  KnownOp known{name, use, stablehlo::getFirstVersion(name), {}, {}};
  if (use != "answers")
    return known;
  for (Answer answer : kAnswers)
    known.answers.push_back(
        {answer, hasAnswer(op, answer), graph::getRefusal(name, answer)});
  if (auto *forms = op.getInterface<graph::KernelFormsOpInterface>())
    known.forms = forms->getKernelForms();
  return known;
}

/// By name; those of upstream dialects that a text may have among them.
static std::vector<KnownOp> collectOps(MLIRContext &context) {
  std::vector<KnownOp> known;
  for (RegisteredOperationName op : context.getRegisteredOperations())
    if (StringRef use = findUse(op); !use.empty())
      known.push_back(describe(op, use));
  llvm::sort(known, [](const KnownOp &one, const KnownOp &other) {
    return one.name < other.name;
  });
  return known;
}

static std::string listForms(const KnownOp &op) {
  return llvm::join(llvm::map_to_vector(op.forms, graph::nameOf), ", ");
}

static std::string describeInText(const KnownOp &op) {
  if (op.use == "other ops")
    return "replaced by other ops";
  if (op.use == "manual regions")
    return "of devices in manual regions; replaced by other ops";
  if (op.use == "read")
    return "read by the import";
  std::vector<std::string> parts;
  for (const AnswerCell &cell : op.answers) {
    std::string name = graph::stringifyAnswer(cell.answer).str();
    if (!cell.isThere)
      parts.push_back("no " + name + " (" + cell.reason.str() + ")");
    else if (cell.answer == Answer::Kernel)
      parts.push_back(name + " (" + listForms(op) + ")");
    else
      parts.push_back(name);
  }
  return llvm::join(parts, ", ");
}

static void printKnownText(ArrayRef<KnownOp> ops) {
  auto print = [](StringRef name, StringRef since, const llvm::Twine &text) {
    llvm::outs() << llvm::left_justify(name, 44) << ' '
                 << llvm::left_justify(since, 7) << ' ' << text << "\n";
  };
  for (const KnownOp &op : ops)
    print(op.name, op.since, describeInText(op));
  for (const import::CallTarget &call : import::getCallTargets())
    print(("stablehlo.custom_call @" + call.name).str(), "",
          "becomes " + call.becomes);
  std::vector<onnx::KnownOp> nodes = onnx::listKnownOps();
  for (const onnx::KnownOp &node : nodes)
    print("onnx " + node.name, "",
          "imported, up to version " + llvm::Twine(node.newest));
  llvm::outs() << ops.size() << " ops, " << import::getCallTargets().size()
               << " targets of custom calls, " << nodes.size()
               << " ops of ONNX\n";
}

static void writeKnownOp(llvm::json::OStream &json, const KnownOp &op) {
  json.attribute("op", op.name);
  json.attribute("use", op.use);
  json.attribute("since", op.since);
  if (op.use != "answers")
    return;
  for (const AnswerCell &cell : op.answers)
    if (cell.isThere)
      json.attribute(graph::stringifyAnswer(cell.answer), true);
    else
      json.attribute(graph::stringifyAnswer(cell.answer), cell.reason);
  json.attributeArray("forms", [&] {
    for (graph::KernelForm form : op.forms)
      json.value(graph::nameOf(form));
  });
}

static void printKnownJson(ArrayRef<KnownOp> ops) {
  llvm::json::OStream json(llvm::outs(), 2);
  json.object([&] {
    json.attributeArray("ops", [&] {
      for (const KnownOp &op : ops)
        json.object([&] { writeKnownOp(json, op); });
    });
    json.attributeArray("calls", [&] {
      for (const import::CallTarget &call : import::getCallTargets())
        json.object([&] {
          json.attribute("target", call.name);
          json.attribute("becomes", call.becomes);
        });
    });
    json.attributeArray("onnx", [&] {
      for (const onnx::KnownOp &node : onnx::listKnownOps())
        json.object([&] {
          json.attribute("op", node.name);
          json.attribute("newest", node.newest);
        });
    });
  });
  llvm::outs() << "\n";
}

void driver::printKnownOps(bool asJson) {
  std::unique_ptr<MLIRContext> context = makeContext();
  context->loadAllAvailableDialects();
  std::vector<KnownOp> ops = collectOps(*context);
  asJson ? printKnownJson(ops) : printKnownText(ops);
}

//===- Ops.cpp - Which ops a model needs ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What llmc has of an op is asked of the op's registration and interfaces. The
// text need not be one that MLIR reads.
//
// Test: test/Tools/llmc/ops.test
//===----------------------------------------------------------------------===//

#include "Ops.h"
#include "Driver/Compile.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Import/Onnx/Import.h"
#include "llmc/Import/StableHLO/Import.h"
#include "llmc/Import/Text/ReadModule.h"
#include "llmc/Import/Text/ScanOps.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Log.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using graph::Answer;
using rt::ErrorKind;

namespace {
/// What llmc does with an op; the order is that of the list.
enum class Verdict { Unknown, Incomplete, Present };

struct Row {
  import::OpCount op;
  Verdict verdict = Verdict::Present;
  /// In a few words: how llmc has the op, or why it does not.
  std::string text;
  /// Of an .onnx file the first node, in place of a line and a column.
  std::string node;

  bool isMissing() const { return verdict != Verdict::Present; }
};
} // namespace

bool driver::hasAnswer(RegisteredOperationName op, Answer answer) {
  switch (answer) {
  case Answer::Rule:
    return op.hasInterface<graph::ShardingRuleOpInterface>();
  case Answer::Derivative:
    return op.hasInterface<graph::DerivativeOpInterface>();
  case Answer::Cost:
    return op.hasInterface<graph::CostOpInterface>();
  case Answer::Kernel:
    return op.hasInterface<graph::KernelOpInterface>();
  case Answer::Evaluation:
    return op.hasInterface<graph::EvaluationOpInterface>();
  }
  return false;
}

/// "no derivative: <reason>"; "" when the op has all answers.
static std::string findGap(RegisteredOperationName op) {
  for (Answer answer : {Answer::Rule, Answer::Derivative, Answer::Cost,
                        Answer::Kernel, Answer::Evaluation}) {
    if (hasAnswer(op, answer))
      continue;
    StringRef reason = graph::getRefusal(op.getStringRef(), answer);
    return ("no " + graph::stringifyAnswer(answer) +
            (reason.empty() ? "" : ": ") + reason)
        .str();
  }
  return "";
}

/// Of custom calls the import knows some targets.
static Row judgeCall(const import::OpCount &count) {
  for (const import::CallTarget &known : import::getCallTargets())
    if (known.name == count.target)
      return {count, Verdict::Present, "becomes " + known.becomes.str()};
  return {count, Verdict::Unknown, "not a call that llmc knows"};
}

static Row judge(MLIRContext &context, const import::OpCount &count) {
  auto op = RegisteredOperationName::lookup(count.name, &context);
  if (!op)
    return {count, Verdict::Unknown, "not known"};
  if (!count.target.empty())
    return judgeCall(count);
  import::OpUse use = import::getUse(*op);
  if (use == import::OpUse::Read)
    return {count, Verdict::Present, "read by the import"};
  if (use == import::OpUse::Refused)
    return {count, Verdict::Incomplete, "not an op of models"};
  if (op->hasInterface<graph::ExpansionOpInterface>() ||
      op->hasInterface<graph::DeviceOpInterface>())
    return {count, Verdict::Present, "replaced by other ops"};
  std::string gap = findGap(*op);
  if (gap.empty())
    return {count, Verdict::Present, "compiled and differentiated"};
  return {count, Verdict::Incomplete, gap};
}

/// The ops of an .onnx file; their place is the first node.
static rt::Result<std::vector<Row>> readOnnxRows(const std::string &path) {
  LLMC_TRY_ASSIGN(std::vector<onnx::OpCount> counts, onnx::listOps(path));
  std::vector<Row> rows;
  for (bool isMissing : {true, false})
    for (const onnx::OpCount &each : counts) {
      if (each.missing.empty() == isMissing)
        continue;
      Row row;
      row.op.name = each.name;
      row.op.count = each.count;
      row.node = each.firstNode;
      row.verdict = isMissing ? Verdict::Unknown : Verdict::Present;
      row.text = isMissing ? each.missing : "imported";
      rows.push_back(row);
    }
  if (rows.empty())
    return rt::makeError(ErrorKind::malformed,
                         path + ": expected a model with nodes, got none");
  return rows;
}

static rt::Result<std::vector<Row>> readRows(const std::string &path) {
  if (onnx::isOnnxFile(path))
    return readOnnxRows(path);
  LLMC_TRY_ASSIGN(rt::MappedFile file, rt::MappedFile::open(path));
  StringRef text(file.text().data(), file.size());
  LLMC_TRY(import::checkText(text, path));
  std::unique_ptr<MLIRContext> context = makeContext();
  std::vector<Row> rows;
  for (const import::OpCount &count : import::scanOps(*context, text))
    rows.push_back(judge(*context, count));
  if (rows.empty())
    return rt::makeError(ErrorKind::malformed,
                         path + ": expected MLIR text with ops, got none");
  llvm::sort(rows, [](const Row &one, const Row &other) {
    return std::tie(one.verdict, one.op.line, one.op.column) <
           std::tie(other.verdict, other.op.line, other.op.column);
  });
  return rows;
}

static int64_t countOps(ArrayRef<Row> rows) {
  int64_t number = 0;
  for (const Row &row : rows)
    number += row.op.count;
  return number;
}

/// Of a custom call with its target.
static std::string getTitle(const Row &row) {
  return rt::escape(row.op.target.empty() ? row.op.name
                                          : row.op.name + " @" + row.op.target);
}

static void printText(ArrayRef<Row> rows, int64_t missing) {
  constexpr size_t widest = 40;
  size_t width = 0;
  for (const Row &row : rows)
    width = std::max(width, std::min(getTitle(row).size(), widest));
  for (const Row &row : rows) {
    std::string place = row.op.line == 0 ? "'" + rt::escape(row.node) + "'"
                                         : std::to_string(row.op.line) + ":" +
                                               std::to_string(row.op.column);
    llvm::outs() << llvm::left_justify(getTitle(row), width)
                 << llvm::format_decimal(row.op.count, 8) << "  first at "
                 << llvm::left_justify(place, 9) << ' '
                 << (row.isMissing() ? "missing: " : "") << row.text << "\n";
  }
  llvm::outs() << countOps(rows) << " ops of " << rows.size() << " kinds; "
               << missing << " kinds are missing\n";
}

static void printJson(ArrayRef<Row> rows, int64_t missing) {
  llvm::json::OStream json(llvm::outs(), 2);
  json.object([&] {
    json.attributeArray("kinds", [&] {
      for (const Row &row : rows)
        json.object([&] {
          json.attribute("op", row.op.name);
          if (!row.op.target.empty())
            json.attribute("target", row.op.target);
          json.attribute("count", row.op.count);
          if (row.op.line == 0) {
            json.attribute("node", row.node);
          } else {
            json.attribute("line", static_cast<int64_t>(row.op.line));
            json.attribute("column", static_cast<int64_t>(row.op.column));
          }
          json.attribute("missing", row.isMissing());
          json.attribute("answer", row.text);
        });
    });
    json.attribute("ops", countOps(rows));
    json.attribute("missing", missing);
  });
  llvm::outs() << "\n";
}

rt::Result<OpsSummary> driver::summarizeOps(const std::string &path) {
  LLMC_TRY_ASSIGN(std::vector<Row> rows, readRows(path));
  OpsSummary summary;
  summary.kinds = static_cast<int64_t>(rows.size());
  for (const Row &row : rows)
    if (row.isMissing())
      summary.missing.push_back(getTitle(row) + " (" + row.text + ")");
  return summary;
}

rt::Status driver::runOps(const Options &options) {
  if (options.known) {
    printKnownOps(options.json);
    return rt::Status::success();
  }
  LLMC_TRY_ASSIGN(std::vector<Row> rows, readRows(options.input));
  int64_t missing =
      llvm::count_if(rows, [](const Row &row) { return row.isMissing(); });
  (options.json ? printJson : printText)(rows, missing);
  // The error is the last line.
  llvm::outs().flush();
  if (missing == 0)
    return rt::Status::success();
  return rt::makeError(ErrorKind::unsupported,
                       options.input + ": expected ops that llmc has, got " +
                           std::to_string(missing) +
                           (missing == 1 ? " kind" : " kinds") +
                           " that it does not");
}

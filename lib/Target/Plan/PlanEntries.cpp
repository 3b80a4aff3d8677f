//===- PlanEntries.cpp - Entries with their tables and ends ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/EndToEnd/resume.test
//===----------------------------------------------------------------------===//

#include "PlanExport.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"

using namespace mlir;
namespace rtp = llmc::rt::plan;

namespace llmc::target {

static std::vector<int32_t> toStages(DenseI64ArrayAttr stages) {
  if (!stages)
    return {};
  return {stages.asArrayRef().begin(), stages.asArrayRef().end()};
}

/// Sources of one name are one source.
rt::Status PlanExport::bindInput(plan::EntryOp op, plan::InputAttr attr,
                                 rtp::Input &input) {
  if (!attr.getData())
    return rt::Status::success();
  auto data = dyn_cast<dist::DataAttr>(attr.getData());
  if (!data)
    return errorAt(op,
                   "expected a #dist.data for input " + attr.getName().str());
  rtp::DataSource source{data.getName().str(), dist::getRuntimeRule(data)};
  auto found = llvm::find_if(plan.sources, [&](const rtp::DataSource &each) {
    return each.name == source.name;
  });
  input.source = static_cast<int32_t>(found - plan.sources.begin());
  input.dataOffset = data.getOffset();
  // The greatest number is no limit.
  input.limit = data.getLimit() == INT64_MAX ? 0 : data.getLimit();
  if (found == plan.sources.end())
    plan.sources.push_back(std::move(source));
  else if (!(found->rule == source.rule))
    return errorAt(op, "expected one rule for source '" + source.name +
                           "', got another one for input " +
                           attr.getName().str());
  return rt::Status::success();
}

rt::Status PlanExport::exportEntry(plan::EntryOp op) {
  rtp::Entry entry;
  entry.name = op.getSymName().str();
  entry.kind = static_cast<rtp::EntryKind>(op.getKind());
  entry.counts = op.getCounts().value_or("").str();
  entry.numMicrobatches = static_cast<int32_t>(op.getMicrobatches());
  entry.numChunks = static_cast<int32_t>(op.getChunks());
  entry.reorder = op.getReorder();
  if (auto flops = op->getAttrOfType<FloatAttr>(dist::DistDialect::kModelFlops))
    entry.modelFlops = flops.getValueAsDouble();
  auto programOf = [&](Attribute attr) {
    auto name = dyn_cast<FlatSymbolRefAttr>(attr);
    return name ? indexOf(programs, name.getValue()) : -1;
  };
  for (Attribute program : op.getPrologue())
    entry.prologue.push_back(programOf(program));
  for (Attribute program : op.getEpilogue())
    entry.epilogue.push_back(programOf(program));
  auto table = module.lookupSymbol<plan::TableOp>(op.getTable());
  for (const plan::Cell &cell : table.getRows().getCells())
    entry.table.push_back(
        {cell.program < 0 ? -1 : programOf(table.getPrograms()[cell.program]),
         cell.microbatch});
  for (auto attr : op.getInputs().getAsRange<plan::InputAttr>()) {
    rtp::Input input;
    input.name = attr.getName().str();
    LLMC_TRY_ASSIGN(input.dtype, getDType(op, attr.getType().getElementType()));
    LLMC_TRY_ASSIGN(input.layout,
                    layoutOf(op, attr.getLayout(), attr.getType().getShape()));
    input.stages = toStages(attr.getStages());
    LLMC_TRY(bindInput(op, attr, input));
    entry.inputs.push_back(std::move(input));
  }
  for (auto name : op.getHypers().getAsRange<FlatSymbolRefAttr>()) {
    auto hyper = module.lookupSymbol<dist::HyperOp>(name.getValue());
    if (!hyper)
      return errorAt(op, "expected hyper value '" + name.getValue() + "'");
    rtp::Hyper value;
    value.name = name.getValue().str();
    LLMC_TRY_ASSIGN(
        value.dtype,
        getDType(op, cast<RankedTensorType>(hyper.getType()).getElementType()));
    value.rule = dist::getRuntimeRule(hyper.getRule());
    entry.hypers.push_back(std::move(value));
  }
  for (auto attr : op.getMetrics().getAsRange<plan::MetricAttr>()) {
    rtp::Metric metric;
    metric.name = attr.getName().str();
    LLMC_TRY_ASSIGN(metric.dtype, getDType(op, attr.getDtype()));
    entry.metrics.push_back(std::move(metric));
  }
  for (auto attr : op.getFetches().getAsRange<plan::FetchAttr>()) {
    rtp::Fetch fetch;
    fetch.name = attr.getName().str();
    LLMC_TRY_ASSIGN(fetch.dtype, getDType(op, attr.getType().getElementType()));
    LLMC_TRY_ASSIGN(fetch.layout,
                    layoutOf(op, attr.getLayout(), attr.getType().getShape()));
    fetch.stages = toStages(attr.getStages());
    fetch.eachMicrobatch = attr.getEachMicrobatch();
    if (StringAttr of = attr.getPartOf()) {
      fetch.of = of.str();
      fetch.origin = attr.getOrigin().asArrayRef().vec();
      fetch.shape = attr.getWhole().asArrayRef().vec();
    }
    entry.fetches.push_back(std::move(fetch));
  }
  plan.entries.push_back(std::move(entry));
  return rt::Status::success();
}

rt::Status PlanExport::exportEntries() {
  for (auto entry : module.getOps<plan::EntryOp>())
    LLMC_TRY(exportEntry(entry));
  return rt::Status::success();
}

} // namespace llmc::target

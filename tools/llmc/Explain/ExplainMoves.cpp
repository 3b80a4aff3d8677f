//===- ExplainMoves.cpp - What a step communicates, by place --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExplainMoves.h"
#include "../Driver/BufferNames.h"
#include "llmc/Analysis/Layouts/MachineOfMesh.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::plan::Plan;
using rt::plan::Traffic;

std::string driver::showFirst(const std::vector<std::string> &list) {
  return list.front() +
         (list.size() == 1
              ? ""
              : " and " + std::to_string(list.size() - 1) + " more");
}

std::string driver::shortenLayouts(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, "#dist.layout<@mesh, ");
  return llvm::join(parts, "<");
}

/// "all_reduce over a b" of a remark's "all-reduce over "a", "b", 8 B".
static std::string readMove(StringRef text) {
  auto [kind, rest] = text.split(" over ");
  std::string move = kind.str();
  llvm::replace(move, '-', '_');
  SmallVector<StringRef> axes, names;
  rest.split(axes, '"');
  // Every second part stands between quotes.
  for (size_t i = 1; i < axes.size(); i += 2)
    names.push_back(axes[i]);
  return move + " over " + llvm::join(names, " ");
}

namespace {
/// All moves that are alike but for their places.
struct Move {
  std::string what, reason;
  int64_t count = 0, bytes = 0;
  std::optional<double> seconds;
  /// Of the gradients that are added up, and where and by whom.
  std::vector<std::string> gradients, places, stages;
};

class MoveTable {
public:
  MoveTable(ModuleOp module, const Plan &plan, const Remarks &remarks,
            const Places &places);

  void add(const Traffic &row, int64_t stage);
  std::vector<ExplainedLine> take() const;

private:
  std::optional<double> getSeconds(const Traffic &row, int64_t bytes) const;
  int64_t countMembers(const Traffic &row) const;
  std::string placeOf(const Traffic &row) const;

  const Plan &plan;
  const Places &places;
  BufferNames buffers;
  std::optional<MachineModel> machine;
  /// Kind and place -> why, as the pass that made it says.
  llvm::StringMap<std::string> reasons;
  std::vector<Move> moves;
  std::map<std::string, size_t> numbers;
};
} // namespace

MoveTable::MoveTable(ModuleOp module, const Plan &plan, const Remarks &remarks,
                     const Places &places)
    : plan(plan), places(places), buffers(plan, places) {
  for (auto mesh : module.getOps<dist::MeshOp>())
    if (auto given = mesh.getMachine(); given && given->getLinks())
      if (FailureOr<MachineModel> read = readMachine(mesh); succeeded(read))
        machine = *read;
  for (const Remark &remark : remarks.list())
    if (remark.category == "layouts") {
      auto [move, reason] = StringRef(remark.text).split(" received: ");
      if (!reason.empty())
        reasons.try_emplace(readMove(move) + "\n" +
                                places.resolve(remark.place),
                            shortenLayouts(reason));
    }
}

int64_t MoveTable::countMembers(const Traffic &row) const {
  int64_t members = 1;
  for (int32_t axis : row.axisNumbers)
    members *= plan.mesh.axes[axis].size;
  return members;
}

/// As phase `ordered` counts them (InstructionTimes.h).
std::optional<double> MoveTable::getSeconds(const Traffic &row,
                                            int64_t bytes) const {
  if (!machine)
    return std::nullopt;
  const MachineModel::Link &link = machine->linkOf(row.axisNumbers);
  double messages = 1;
  if (std::optional<CollectiveKind> kind = collectiveNamed(row.kind))
    messages = double(countMembers(row) - 1) *
               (*kind == CollectiveKind::allReduce ? 2 : 1);
  return double(row.count) * messages * link.latency +
         double(bytes) / link.bandwidth;
}

std::string MoveTable::placeOf(const Traffic &row) const {
  if (row.buffer >= 0)
    return buffers.placeOf(row.buffer);
  return places.resolve(row.location < 0 ? "" : plan.locations[row.location]);
}

void MoveTable::add(const Traffic &row, int64_t stage) {
  // What is sent counts where it arrives.
  if (row.kind == "send")
    return;
  std::optional<CollectiveKind> kind = collectiveNamed(row.kind);
  int64_t bytes =
      kind ? bytesReceived(*kind, int64_t(row.bytesIn), countMembers(row))
           : int64_t(row.bytesOut);
  std::string place = placeOf(row);
  std::string what = row.kind + " over " + row.axes;
  std::string reason = rt::hideNumbers(reasons.lookup(what + "\n" + place));
  StringRef gradient;
  std::string name = row.buffer < 0 ? "" : buffers.nameOf(row.buffer);
  if (StringRef text = name; text.consume_front("the gradient of "))
    gradient = text;
  if (row.isScalar)
    reason = "single numbers: the loss, counts, norms";
  // Equal moves have equal sizes.
  std::string key =
      what + "\n" + reason + "\n" +
      (row.isScalar || !gradient.empty() ? "any"
                                         : std::to_string(bytes / row.count));
  auto [known, isNew] = numbers.insert({key, moves.size()});
  if (isNew)
    moves.push_back({what, reason, 0, 0, {}, {}, {}, {}});
  Move &move = moves[known->second];
  move.count += row.count;
  move.bytes += bytes;
  if (std::optional<double> seconds = getSeconds(row, bytes))
    move.seconds = move.seconds.value_or(0) + *seconds;
  for (auto [list, text] :
       {std::pair(&move.gradients, rt::hideNumbers(gradient.str())),
        std::pair(&move.places, place),
        std::pair(&move.stages, std::to_string(stage))})
    if (!text.empty() && !llvm::is_contained(*list, text))
      list->push_back(text);
}

std::vector<ExplainedLine> MoveTable::take() const {
  constexpr double milli = 1e3;
  std::vector<ExplainedLine> lines;
  bool hasStages = plan.mesh.numStages() > 1;
  for (const Move &move : moves) {
    std::string text = showFirst(move.places) + ": " +
                       std::to_string(move.count) + " x " + move.what;
    if (hasStages)
      text += " on stage " + llvm::join(move.stages, ", ");
    text += ", " + rt::printCount(uint64_t(move.bytes)) + " B received";
    if (move.seconds)
      text += llvm::formatv(", {0:f3} ms", milli * *move.seconds).str();
    std::string reason = move.gradients.empty()
                             ? move.reason
                             : "devices have terms of the gradient of " +
                                   showFirst(move.gradients);
    lines.push_back(
        {double(move.bytes), text + (reason.empty() ? "" : ": " + reason)});
  }
  return lines;
}

std::vector<ExplainedLine> driver::explainMoves(ModuleOp module,
                                                const PlanFacts &facts,
                                                const rt::plan::Entry &entry,
                                                const Remarks &remarks,
                                                const Places &places) {
  MoveTable table(module, facts.plan, remarks, places);
  for (int64_t stage = 0; stage < facts.plan.mesh.numStages(); ++stage)
    for (const Traffic &row : trafficByPlace(facts.plan, entry, stage))
      table.add(row, stage);
  return table.take();
}

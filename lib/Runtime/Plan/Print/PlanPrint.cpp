//===- PlanPrint.cpp - Plans as text --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For people. Programs print one instruction a line, its stream first:
//
//   program c0.F (forward, chunk 0)
//     K  wait in.free
//     K  copy input tokens -> in.tok
//     C  kernel k_embed(in.tok, state.w -> bnd.t0.x, act0.h; 5 *
//     coordinate(..))
//
// Test: test/Runtime/Plan/Print/PlanPrintTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace llmc::rt::plan {

namespace {
class Printer {
public:
  explicit Printer(const Plan &plan) : plan_(plan) {
    for (const MeshAxis &axis : plan.mesh.axes) {
      axes_.push_back(escape(axis.name));
    }
  }

  void machine();
  void summary();
  void tables();
  void states();
  void sources();
  void entry(const Entry &entry);
  void program(const Program &program);
  std::string take() { return std::move(text_); }

  std::string operator()(const KernelLaunch &launch) const;
  std::string operator()(const Library &library) const;
  std::string operator()(const Collective &collective) const;
  std::string operator()(const Send &send) const;
  std::string operator()(const Receive &receive) const;
  std::string operator()(const Exchange &exchange) const;
  std::string operator()(const Copy &copy) const;
  std::string operator()(const Fill &fill) const;
  std::string operator()(const Signal &signal) const;
  std::string operator()(const Wait &wait) const;
  std::string operator()(const Call &call) const;
  std::string operator()(const Loop &loop) const;
  std::string operator()(const Branch &branch) const;
  std::string operator()(const While &loop) const;

private:
  std::string call(int32_t program, const std::vector<ExprId> &arguments) const;
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args &&...args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  std::string operand(const Operand &operand) const;
  std::string operands(const std::vector<Operand> &list) const;
  std::string uses(const std::vector<Operand> &operands,
                   const std::vector<Access> &access,
                   const std::string &last) const;
  std::string message(const Message &message) const;
  std::string event(EventRef event) const;
  std::string expression(ExprId id) const {
    return describe(plan_.expressions, id, axes_);
  }
  std::string axesOf(const std::vector<int32_t> &axes) const;
  std::string source(const Input &input) const;
  void cells(const Entry &entry);

  const Plan &plan_;
  std::vector<std::string> axes_;
  std::string text_;
};
} // namespace

static std::string stagesText(const std::vector<int32_t> &stages) {
  std::string text;
  for (int32_t stage : stages) {
    text += fmt::format("{}{}", text.empty() ? " at " : ", ", stage);
  }
  return text;
}

static std::string typeText(DType dtype, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape) {
    text += fmt::format("{}x", size);
  }
  return text + std::string(nameOf(dtype));
}

std::string Printer::operand(const Operand &operand) const {
  if (!operand.present()) {
    return "-";
  }
  const Buffer &buffer = plan_.buffers[operand.buffer];
  std::string text = escape(plan_.frames[buffer.frame].name, 60) + "." +
                     (buffer.name.empty() ? fmt::format("{}", operand.buffer)
                                          : escape(buffer.name, 60));
  if (operand.offset != 0) {
    text += fmt::format("+{}", operand.offset);
  }
  if (operand.expr != noExpr) {
    text += fmt::format("+({})", expression(operand.expr));
  }
  text += ":" + typeText(operand.dtype, operand.shape);
  if (!operand.strides.empty()) {
    text += fmt::format("[{}]", fmt::join(operand.strides, ","));
  }
  return text;
}

std::string Printer::operands(const std::vector<Operand> &list) const {
  std::string text;
  for (const Operand &each : list) {
    text += (text.empty() ? "" : ", ") + operand(each);
  }
  return text;
}

std::string Printer::event(EventRef event) const {
  const Frame &frame = plan_.frames[event.frame];
  return escape(frame.name, 60) +
         (event.event == 0 ? ".free" : fmt::format(".e{}", event.event));
}

std::string Printer::axesOf(const std::vector<int32_t> &axes) const {
  std::string text;
  for (int32_t axis : axes) {
    text += (text.empty() ? "" : ", ") + axes_[axis];
  }
  return "{" + text + "}";
}

/// What is read, then what is written; both is in both.
std::string Printer::uses(const std::vector<Operand> &operands,
                          const std::vector<Access> &access,
                          const std::string &last) const {
  std::string reads, writes;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string each = operand(operands[i]);
    if (access[i] != Access::write) {
      reads += (reads.empty() ? "" : ", ") + each;
    }
    if (access[i] != Access::read) {
      writes += (writes.empty() ? "" : ", ") + each;
    }
  }
  return fmt::format("({} -> {}{})", reads, writes, last);
}

std::string Printer::operator()(const KernelLaunch &launch) const {
  std::string scalars;
  for (ExprId scalar : launch.scalars) {
    scalars += (scalars.empty() ? "; " : ", ") + expression(scalar);
  }
  return escape(plan_.kernels[launch.kernel].name, 80) +
         uses(launch.operands, launch.access, scalars);
}

static std::string describe(const std::vector<ContractionIndex> &indices) {
  static constexpr char kinds[] = {'b', 'm', 'n', 'k'};
  std::string text;
  for (const ContractionIndex &index : indices) {
    text +=
        fmt::format(" {}={}", kinds[static_cast<int>(index.kind)], index.size);
  }
  return text;
}

/// " window 32*3->16 by 2 low 1", with dilations where there are any.
static std::string describe(const ConvolutionWindow &window) {
  auto dilated = [](int64_t size, int64_t dilation) {
    return dilation == 1 ? fmt::format("{}", size)
                         : fmt::format("{}:{}", size, dilation);
  };
  std::string text =
      fmt::format(" window {}*{}->{}", dilated(window.sizeA, window.dilationA),
                  dilated(window.sizeB, window.dilationB), window.sizeC);
  text += window.stepC != 1 ? fmt::format(" by {}", window.stepC) : "";
  text += window.low != 0 ? fmt::format(" low {}", window.low) : "";
  text += window.isReversed ? " reversed" : "";
  return text;
}

static std::string describe(const ConvolutionShape &shape) {
  std::string text = describe(shape.indices);
  for (const ConvolutionWindow &window : shape.windows) {
    text += describe(window);
  }
  return text + (shape.beta != 0 ? " beta 1" : "");
}

static std::string describe(const ContractionShape &shape) {
  std::string text = describe(shape.indices);
  if (shape.alpha != 1) {
    text += fmt::format(" alpha {}", shape.alpha);
  }
  text += shape.beta != 0 ? " beta 1" : "";
  if (shape.activation != Activation::none) {
    text += fmt::format(" {}", nameOf(shape.activation));
  }
  return text;
}

/// " batch=8 row=64 column=64 depth=16 value=16 scale 0.25 causal shift 3".
static std::string describe(const AttentionShape &shape) {
  std::string text = shape.isGradient ? " gradient" : "";
  for (const AttentionIndex &index : shape.indices) {
    text += fmt::format(" {}={}", nameOf(index.kind), index.size);
  }
  text += fmt::format(" scale {}", shape.scale);
  text += shape.isSafe ? " safe" : "";
  text += shape.isCausal ? " causal" : "";
  text += shape.shift != 0 ? fmt::format(" shift {}", shape.shift) : "";
  text += shape.hasOffset ? " offset" : "";
  if (shape.hasDropout()) {
    text +=
        fmt::format(" dropout {} {} {} factor {}", nameOf(shape.dropout.bits),
                    shape.dropout.keepsBelow ? "below" : "from",
                    shape.dropout.limit, shape.dropout.factor);
  }
  return text;
}

/// " outer=4 size=50000 inner=1 count=8 of f32, i32 descending".
static std::string describe(const ArgsortShape &shape) {
  std::string text =
      fmt::format(" outer={} size={} inner={} count={} of", shape.outer,
                  shape.size, shape.inner, shape.count);
  for (const ArgsortKey &key : shape.keys) {
    text +=
        fmt::format("{} {}{}", &key == &shape.keys.front() ? "" : ",",
                    nameOf(key.dtype), key.isDescending ? " descending" : "");
  }
  return text;
}

/// " m=64 n=10 k=6 of 8 groups", with what else there is.
static std::string describe(const GroupedContractionShape &shape) {
  const ContractionIndex &rows = shape.product.indices[shape.rows];
  std::string text =
      describe(shape.product) +
      fmt::format(" {}={} in {} of {} groups",
                  rows.kind == ContractionIndexKind::m ? "m" : "k", rows.size,
                  shape.groups, shape.numSizes);
  text += shape.hasOwnSizes ? " by batch" : "";
  text += shape.hasFirst ? " from first" : "";
  return text;
}

std::string Printer::operator()(const Library &library) const {
  std::string form =
      library.form ? fmt::format(" in form {}", library.form) : "";
  return fmt::format("{}{}{}{}", nameOf(library.descriptor),
                     uses(library.operands, library.access, ""),
                     std::visit([](const auto &each) { return describe(each); },
                                library.descriptor),
                     form);
}

std::string Printer::operator()(const Collective &collective) const {
  uint64_t bytes = 0;
  for (const Operand &input : collective.inputs) {
    bytes += uint64_t(elementsOf(input)) * sizeOf(input.dtype);
  }
  std::string text = fmt::format(
      "{} #{} over {}{}: {} -> {} ({} B)", nameOf(collective.kind),
      escape(plan_.symbols[collective.symbol], 60), axesOf(collective.axes),
      stagesText(collective.stages), operands(collective.inputs),
      operands(collective.outputs), bytes);
  if (traitsOf(collective.kind).reduces) {
    text += fmt::format(" {}", nameOf(collective.reduction));
  }
  if (collective.counts.present()) {
    text += fmt::format(" counts {}", operands({collective.counts}));
  }
  return text;
}

std::string Printer::message(const Message &message) const {
  return fmt::format("{} {}", escape(plan_.transfers[message.transfer], 60),
                     operands(message.operands));
}

std::string Printer::operator()(const Send &send) const {
  return fmt::format("{} to {}", message(send.message),
                     expression(send.message.peer));
}

std::string Printer::operator()(const Receive &receive) const {
  return fmt::format("{} from {}", message(receive.message),
                     expression(receive.message.peer));
}

std::string Printer::operator()(const Exchange &exchange) const {
  std::string text;
  for (const Message &each : exchange.sends) {
    text += (text.empty() ? "" : "; ") + (*this)(Send{each});
  }
  for (const Message &each : exchange.receives) {
    text += (text.empty() ? "" : "; ") + (*this)(Receive{each});
  }
  return text;
}

std::string Printer::operator()(const Copy &copy) const {
  std::string host = fmt::format("{} #{}", nameOf(copy.host), copy.index);
  return fmt::format("{} -> {}",
                     copy.from.present() ? operand(copy.from) : host,
                     copy.to.present() ? operand(copy.to) : host);
}

std::string Printer::operator()(const Fill &fill) const {
  return fmt::format("{} with {:#x}", operand(fill.to), fill.pattern);
}

std::string Printer::operator()(const Signal &signal) const {
  return event(signal.event);
}

std::string Printer::operator()(const Wait &wait) const {
  return event(wait.event);
}

std::string Printer::call(int32_t program,
                          const std::vector<ExprId> &arguments) const {
  std::string list;
  for (ExprId argument : arguments) {
    list += (list.empty() ? "" : ", ") + expression(argument);
  }
  return fmt::format("{}({})", escape(plan_.programs[program].name, 80), list);
}

std::string Printer::operator()(const Call &call) const {
  return this->call(call.program, call.arguments);
}

std::string Printer::operator()(const Loop &loop) const {
  return fmt::format("{} times {}", loop.trips,
                     call(loop.program, loop.arguments));
}

std::string Printer::operator()(const Branch &branch) const {
  return fmt::format("{} {}", operand(branch.flag),
                     escape(plan_.programs[branch.program].name, 80));
}

std::string Printer::operator()(const While &loop) const {
  return fmt::format("{} {}", operand(loop.flag),
                     escape(plan_.programs[loop.program].name, 80));
}

void Printer::program(const Program &program) {
  std::string chunk =
      program.chunk < 0 ? "" : fmt::format(", chunk {}", program.chunk);
  line("program {} ({}{})", escape(program.name), nameOf(program.phase), chunk);
  size_t width = 1;
  for (const Stream &stream : plan_.streams) {
    width = std::max(width, std::min<size_t>(stream.name.size(), 24));
  }
  for (const Instruction &instruction : program.instructions) {
    std::string stream =
        instruction.stream < 0
            ? ""
            : escape(plan_.streams[instruction.stream].name, 24);
    std::string where =
        instruction.location < 0
            ? ""
            : "  // " + escape(plan_.locations[instruction.location]);
    line("  {:{}}  {} {}{}", stream, width, nameOf(instruction.action),
         std::visit(*this, instruction.action), where);
  }
}

static std::string_view letterOf(Phase phase) {
  switch (phase) {
  case Phase::forward:
    return "F";
  case Phase::backward:
  case Phase::backwardInput:
    return "B";
  case Phase::backwardWeight:
    return "W";
  default:
    return "?";
  }
}

void Printer::cells(const Entry &entry) {
  int64_t numStages = plan_.mesh.numStages();
  auto rows = static_cast<int64_t>(entry.table.size()) / numStages;
  constexpr int64_t maxRows = 64;
  for (int64_t stage = 0; stage < numStages; ++stage) {
    std::string row;
    for (int64_t r = 0; r < std::min(rows, maxRows); ++r) {
      const Cell &cell = entry.table[r * numStages + stage];
      std::string text = ".";
      if (cell.program >= 0) {
        const Program &program = plan_.programs[cell.program];
        text = fmt::format("{}{}.{}", letterOf(program.phase), program.chunk,
                           cell.microbatch);
      }
      row += fmt::format(" {:6}", text);
    }
    line("  stage {}:{}{}", stage, row, rows > maxRows ? " ..." : "");
  }
}

/// " from corpus + 1".
std::string Printer::source(const Input &input) const {
  if (input.source < 0) {
    return "";
  }
  return fmt::format(" from {}{}{}", escape(plan_.sources[input.source].name),
                     input.dataOffset ? fmt::format(" + {}", input.dataOffset)
                                      : "",
                     input.limit ? fmt::format(", below {}", input.limit) : "");
}

void Printer::sources() {
  for (const DataSource &source : plan_.sources) {
    const DataRule &rule = source.rule;
    std::string text =
        fmt::format("source {}: {}", escape(source.name), nameOf(rule.kind));
    if (rule.kind != DataKind::text) {
      text += rule.kind == DataKind::tokens
                  ? fmt::format(" {}", nameOf(rule.dtype))
                  : " " + escape(rule.tensor);
    }
    text += rule.shuffle ? ", shuffled" : ", in order";
    text += rule.once ? ", each window once" : "";
    text += rule.heldOut > 0 ? fmt::format(", {} held out", rule.heldOut) : "";
    text += rule.weights.empty()
                ? ""
                : fmt::format(", weights {}", fmt::join(rule.weights, " "));
    line("{}{}", text, rule.finite ? "" : ", any floats");
  }
}

void Printer::entry(const Entry &entry) {
  line("entry {} ({}, {} microbatches, {} chunks)", escape(entry.name),
       nameOf(entry.kind), entry.numMicrobatches, entry.numChunks);
  if (entry.modelFlops > 0) {
    line("  {:.6g} flops of the model in a step", entry.modelFlops);
  }
  for (const Input &input : entry.inputs) {
    line("  input {}: {} {}{}{}", escape(input.name),
         typeText(input.dtype, input.layout.globalShape()),
         input.layout.describe(plan_.mesh), stagesText(input.stages),
         source(input));
  }
  for (const Hyper &hyper : entry.hypers) {
    line("  hyper {}: {} {} base {} last {} warmup {} total {}",
         escape(hyper.name), nameOf(hyper.dtype), nameOf(hyper.rule.kind),
         hyper.rule.base, hyper.rule.last, hyper.rule.warmup, hyper.rule.total);
  }
  for (const Metric &metric : entry.metrics) {
    line("  metric {}: {}", escape(metric.name), nameOf(metric.dtype));
  }
  for (const Fetch &fetch : entry.fetches) {
    line("  fetch {}: {}{}{}", escape(fetch.name),
         typeText(fetch.dtype, fetch.layout.globalShape()),
         fetch.eachMicrobatch ? " each microbatch" : "",
         fetch.of.empty()
             ? ""
             : fmt::format(" at [{}] of {}", fmt::join(fetch.origin, ", "),
                           escape(fetch.of)));
  }
  cells(entry);
}

void Printer::states() {
  for (const State &state : plan_.states) {
    std::string source =
        state.source.kind == SourceKind::file
            ? escape(plan_.files[state.source.file], 80)
            : fmt::format("{} {} {}", nameOf(state.source.draw.kind),
                          state.source.draw.a, state.source.draw.b);
    line("state {}: {} {} from {}", escape(state.name),
         typeText(state.dtype, state.shape), nameOf(state.role), source);
    for (const StatePart &part : state.parts) {
      line("  part at [{}] {}{} in {}", fmt::join(part.origin, ", "),
           part.layout.describe(plan_.mesh), stagesText(part.stages),
           operand(part.place));
    }
  }
}

void Printer::tables() {
  for (const Frame &frame : plan_.frames) {
    std::string slot = frame.slot == noExpr
                           ? ""
                           : fmt::format(" [{}]", expression(frame.slot));
    line("frame {} ({}{}): offset {}, {} x {} B{}", escape(frame.name),
         nameOf(frame.kind), stagesText(frame.stages), frame.offset,
         frame.slots, frame.size, slot);
  }
}

/// What of it is known.
void Printer::machine() {
  const Machine &machine = plan_.machine;
  for (auto [value, what] :
       {std::pair(machine.flops, "flops a second"),
        std::pair(machine.memory, "bytes of memory"),
        std::pair(machine.memoryBandwidth, "bytes of memory a second")}) {
    if (value > 0) {
      line("  machine: {:.6g} {}", value, what);
    }
  }
  for (const MachineRate &rate : machine.rates) {
    line("  machine: {:.6g} flops a second of products of {}", rate.flops,
         escape(rate.type));
  }
  for (size_t axis = 0; axis < machine.axisLinks.size(); ++axis) {
    const MachineLink &link = machine.links[machine.axisLinks[axis]];
    line("  machine: {} crosses {}, {:.6g} s and {:.6g} bytes a second",
         escape(plan_.mesh.axes[axis].name), escape(link.name), link.latency,
         link.bandwidth);
  }
}

void Printer::summary() {
  std::string mesh;
  for (const MeshAxis &axis : plan_.mesh.axes) {
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : ", ", escape(axis.name),
                        axis.size);
  }
  uint64_t parameters = 0;
  for (const State &state : plan_.states) {
    int64_t elements = 1;
    for (int64_t size : state.shape) {
      elements *= size;
    }
    parameters += state.role == StateRole::parameter ? uint64_t(elements) : 0;
  }
  line("plan {}: {} devices ({}), {} threads each, {} parameters",
       escape(plan_.name), plan_.mesh.numDevices(), mesh, plan_.threads,
       parameters);
  line("  for target {}", escape(plan_.target));
  machine();
  for (int64_t stage = 0; stage < plan_.mesh.numStages(); ++stage) {
    MemoryReport report = memoryOf(plan_, stage);
    std::string kinds;
    for (int k = 0; k < numFrameKinds; ++k) {
      if (report.bytes[k] > 0) {
        kinds += fmt::format(", {} {}", nameOf(static_cast<FrameKind>(k)),
                             report.bytes[k]);
      }
    }
    line("stage {}: {} bytes{}", stage, report.total, kinds);
    for (const Entry &entry : plan_.entries) {
      for (const Traffic &row : trafficOf(plan_, entry, stage)) {
        line("  {}: {} x {} {}{}, {} -> {} bytes a step", escape(entry.name),
             row.count, row.kind, escape(row.axes),
             row.isScalar ? " (scalars)" : "", row.bytesIn, row.bytesOut);
      }
    }
  }
}

std::string printPlan(const Plan &plan) {
  Printer printer(plan);
  printer.summary();
  printer.tables();
  printer.states();
  printer.sources();
  for (const Entry &entry : plan.entries) {
    printer.entry(entry);
  }
  for (const Program &program : plan.programs) {
    printer.program(program);
  }
  return printer.take();
}

} // namespace llmc::rt::plan

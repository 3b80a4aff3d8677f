//===- PlanWrite.cpp - Plans to bytes -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathers instructions and operands into the pools of plan.fbs, then writes the
// tables. Nothing depends on addresses, so equal plans give equal bytes.
//
// Test: test/Runtime/Plan/Format/PlanFileTest.cpp
//===----------------------------------------------------------------------===//

#include "MachineWrite.h"
#include "PlanFormat.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include "plan_generated.h"

#include <cstring>

namespace llmc::rt::plan {

namespace {

using flatbuffers::Offset;

class Writer {
public:
  explicit Writer(const Plan &plan) : plan_(plan) {}
  std::string run();

private:
  template <typename T> static uint8_t byte(T value) {
    return static_cast<uint8_t>(value);
  }
  template <typename T> fb::Range numbers(const std::vector<T> &values) {
    auto first = static_cast<uint32_t>(numbers_.size());
    for (const T &value : values) {
      numbers_.push_back(static_cast<int64_t>(value));
    }
    return {first, static_cast<uint32_t>(values.size())};
  }
  /// A descriptor's place in the pool of its kind.
  fb::Range indices(const std::vector<ContractionIndex> &indices);
  uint32_t add(const ContractionShape &shape);
  uint32_t add(const ConvolutionShape &shape);
  uint32_t add(const AttentionShape &shape);
  uint32_t add(const ArgsortShape &shape);
  uint32_t add(const GroupedContractionShape &shape);
  /// Runs of the operand pool.
  fb::Range operands(const std::vector<Operand> &list, const Operand &last);
  fb::Range operands(std::initializer_list<const Operand *> list);
  uint32_t operand(const Operand &operand);
  fb::Range messages(const std::vector<Message> &list);
  fb::Message message(const Message &message);

  template <typename T> static uint32_t append(std::vector<T> &pool, T value) {
    pool.push_back(value);
    return static_cast<uint32_t>(pool.size() - 1);
  }
  // Each returns the action's place in the pool of its kind.
  uint32_t add(const KernelLaunch &launch);
  uint32_t add(const Library &library);
  uint32_t add(const Collective &collective);
  uint32_t add(const Send &send);
  uint32_t add(const Receive &receive);
  uint32_t add(const Exchange &exchange);
  uint32_t add(const Copy &copy);
  uint32_t add(const Fill &fill);
  uint32_t add(const Signal &signal);
  uint32_t add(const Wait &wait);
  uint32_t add(const Call &call);
  uint32_t add(const Loop &loop);
  uint32_t add(const Branch &branch);
  uint32_t add(const While &loop);

  Offset<fb::Layout> write(const Layout &layout);
  Offset<fb::Frame> write(const Frame &frame);
  Offset<fb::Program> write(const Program &program);
  Offset<fb::DataSource> write(const DataSource &source);
  Offset<fb::Entry> write(const Entry &entry);
  Offset<fb::State> write(const State &state);
  Offset<fb::KernelObject> write(const KernelObject &object);
  Offset<fb::Plan> writePlanTable();

  template <typename T> auto writeAll(const std::vector<T> &list) {
    std::vector<decltype(write(list[0]))> offsets;
    for (const T &each : list) {
      offsets.push_back(write(each));
    }
    return builder_.CreateVector(offsets);
  }
  auto strings(const std::vector<std::string> &list) {
    std::vector<Offset<flatbuffers::String>> offsets;
    for (const std::string &each : list) {
      offsets.push_back(builder_.CreateSharedString(each));
    }
    return builder_.CreateVector(offsets);
  }

  const Plan &plan_;
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<int64_t> numbers_;
  std::vector<fb::Operand> operands_;
  std::vector<fb::KernelLaunch> launches_;
  std::vector<fb::Library> libraries_;
  std::vector<fb::Contraction> contractions_;
  std::vector<fb::Convolution> convolutions_;
  std::vector<fb::Attention> attentions_;
  std::vector<fb::Argsort> argsorts_;
  std::vector<fb::GroupedContraction> groupedContractions_;
  std::vector<fb::Collective> collectives_;
  std::vector<fb::Message> messages_;
  std::vector<fb::Exchange> exchanges_;
  std::vector<fb::Copy> copies_;
  std::vector<fb::Fill> fills_;
  std::vector<fb::Event> events_;
  std::vector<fb::Call> calls_;
  std::vector<fb::Loop> loops_;
  std::vector<fb::Branch> branches_;
  std::vector<fb::While> whiles_;
};

} // namespace

uint32_t Writer::operand(const Operand &operand) {
  fb::Range dims = numbers(operand.shape);
  numbers(operand.strides);
  return append(operands_,
                fb::Operand(operand.offset, operand.buffer, operand.expr, dims,
                            byte(operand.dtype), byte(operand.shape.size()),
                            byte(!operand.strides.empty())));
}

fb::Range Writer::operands(std::initializer_list<const Operand *> list) {
  auto first = static_cast<uint32_t>(operands_.size());
  for (const Operand *each : list) {
    operand(*each);
  }
  return {first, static_cast<uint32_t>(list.size())};
}

fb::Range Writer::operands(const std::vector<Operand> &list,
                           const Operand &last) {
  auto first = static_cast<uint32_t>(operands_.size());
  for (const Operand &each : list) {
    operand(each);
  }
  operand(last);
  return {first, static_cast<uint32_t>(list.size() + 1)};
}

uint32_t Writer::add(const KernelLaunch &launch) {
  fb::Range all = operands(launch.operands, launch.scratch);
  return append(launches_, fb::KernelLaunch(all, numbers(launch.access),
                                            numbers(launch.scalars),
                                            launch.kernel, launch.operations));
}

fb::Range Writer::indices(const std::vector<ContractionIndex> &indices) {
  std::vector<int64_t> flat;
  for (const ContractionIndex &index : indices) {
    flat.insert(flat.end(),
                {static_cast<int64_t>(index.kind), index.size, index.strideA,
                 index.strideB, index.strideC, index.strideBias});
  }
  return numbers(flat);
}

uint32_t Writer::add(const ContractionShape &shape) {
  return append(contractions_,
                fb::Contraction(shape.alpha, shape.beta, indices(shape.indices),
                                byte(shape.a), byte(shape.b), byte(shape.c),
                                byte(shape.bias), byte(shape.accumulate),
                                byte(shape.activation), shape.hasBias));
}

uint32_t Writer::add(const ConvolutionShape &shape) {
  std::vector<int64_t> windows;
  for (const ConvolutionWindow &window : shape.windows) {
    windows.insert(windows.end(),
                   {window.sizeA, window.sizeB, window.sizeC, window.strideA,
                    window.strideB, window.strideC, window.dilationA,
                    window.dilationB, window.stepC, window.low,
                    window.isReversed ? 1 : 0});
  }
  fb::Range flat = indices(shape.indices);
  return append(convolutions_,
                fb::Convolution(shape.beta, flat, numbers(windows),
                                byte(shape.a), byte(shape.b), byte(shape.c),
                                byte(shape.bias), byte(shape.accumulate),
                                shape.hasBias));
}

uint32_t Writer::add(const AttentionShape &shape) {
  std::vector<int64_t> flat;
  for (const AttentionIndex &index : shape.indices) {
    flat.insert(flat.end(), {static_cast<int64_t>(index.kind), index.size});
    for (const AttentionStride &each : attentionStrides) {
      flat.push_back(index.*each.stride);
    }
  }
  return append(
      attentions_,
      fb::Attention(
          shape.scale, shape.shift, numbers(flat), byte(shape.dtype),
          byte(shape.accumulate), byte(shape.bias), shape.isGradient,
          shape.isSafe, shape.isCausal, shape.hasOffset, shape.hasBias,
          fb::Dropout(shape.dropout.limit, shape.dropout.factor,
                      byte(shape.dropout.bits), shape.dropout.keepsBelow)));
}

uint32_t Writer::add(const ArgsortShape &shape) {
  std::vector<int64_t> flat;
  for (const ArgsortKey &key : shape.keys) {
    flat.insert(flat.end(),
                {static_cast<int64_t>(key.dtype), key.isDescending ? 1 : 0});
  }
  return append(argsorts_, fb::Argsort(shape.outer, shape.size, shape.inner,
                                       shape.count, numbers(flat)));
}

uint32_t Writer::add(const GroupedContractionShape &shape) {
  uint32_t product = add(shape.product);
  return append(groupedContractions_,
                fb::GroupedContraction(shape.numSizes, shape.groups,
                                       shape.stride, product, shape.rows,
                                       byte(shape.sizes), shape.hasOwnSizes,
                                       shape.hasFirst));
}

uint32_t Writer::add(const Library &library) {
  fb::Range all = operands(library.operands, library.workspace);
  uint32_t descriptor = std::visit([&](const auto &each) { return add(each); },
                                   library.descriptor);
  return append(libraries_, fb::Library(library.workspaceBytes, all,
                                        numbers(library.access), descriptor,
                                        byte(library.descriptor.index()),
                                        static_cast<uint16_t>(library.form)));
}

uint32_t Writer::add(const Collective &collective) {
  auto first = static_cast<uint32_t>(operands_.size());
  for (const Operand &each : collective.inputs) {
    operand(each);
  }
  for (const Operand &each : collective.outputs) {
    operand(each);
  }
  operand(collective.counts);
  fb::Range all(first, static_cast<uint32_t>(operands_.size()) - first);
  fb::Range axes = numbers(collective.axes);
  return append(
      collectives_,
      fb::Collective(all, axes, numbers(collective.stages), collective.symbol,
                     collective.dim, collective.concatDim, collective.peer,
                     byte(collective.kind), byte(collective.reduction)));
}

fb::Message Writer::message(const Message &message) {
  auto first = static_cast<uint32_t>(operands_.size());
  for (const Operand &each : message.operands) {
    operand(each);
  }
  fb::Range all(first, static_cast<uint32_t>(message.operands.size()));
  return {all, message.transfer, message.peer};
}

fb::Range Writer::messages(const std::vector<Message> &list) {
  auto first = static_cast<uint32_t>(messages_.size());
  for (const Message &each : list) {
    messages_.push_back(message(each));
  }
  return {first, static_cast<uint32_t>(list.size())};
}

uint32_t Writer::add(const Send &send) {
  return append(messages_, message(send.message));
}

uint32_t Writer::add(const Receive &receive) {
  return append(messages_, message(receive.message));
}

uint32_t Writer::add(const Exchange &exchange) {
  fb::Range sends = messages(exchange.sends);
  return append(exchanges_, fb::Exchange(sends, messages(exchange.receives)));
}

uint32_t Writer::add(const Copy &copy) {
  return append(copies_, fb::Copy(operands({&copy.to, &copy.from}), copy.index,
                                  byte(copy.host)));
}

uint32_t Writer::add(const Fill &fill) {
  return append(fills_, fb::Fill(fill.pattern, operand(fill.to)));
}

uint32_t Writer::add(const Signal &signal) {
  return append(events_, fb::Event(signal.event.frame, signal.event.event));
}

uint32_t Writer::add(const Wait &wait) {
  return append(events_, fb::Event(wait.event.frame, wait.event.event));
}

uint32_t Writer::add(const Call &call) {
  return append(
      calls_, fb::Call(numbers(call.arguments), call.program, call.microbatch));
}

uint32_t Writer::add(const Loop &loop) {
  return append(loops_,
                fb::Loop(loop.trips, numbers(loop.arguments), loop.program));
}

uint32_t Writer::add(const Branch &branch) {
  return append(branches_, fb::Branch(operand(branch.flag), branch.program));
}

uint32_t Writer::add(const While &loop) {
  return append(whiles_, fb::While(operand(loop.flag), loop.program));
}

Offset<fb::Layout> Writer::write(const Layout &layout) {
  std::vector<Offset<fb::DimLayout>> dims;
  for (const DimLayout &dim : layout.dims) {
    std::vector<fb::Factor> factors;
    for (const Factor &factor : dim.factors) {
      factors.emplace_back(factor.size, factor.extent);
    }
    auto axes = builder_.CreateVector(dim.axes);
    dims.push_back(fb::CreateDimLayout(
        builder_, axes, builder_.CreateVectorOfStructs(factors)));
  }
  return fb::CreateLayout(builder_, builder_.CreateVector(dims));
}

Offset<fb::Frame> Writer::write(const Frame &frame) {
  auto name = builder_.CreateSharedString(frame.name);
  auto stages = builder_.CreateVector(frame.stages);
  return fb::CreateFrame(builder_, name, byte(frame.kind), stages, frame.offset,
                         frame.size, frame.slots, frame.slot, frame.events,
                         frame.chunk);
}

Offset<fb::Program> Writer::write(const Program &program) {
  std::vector<fb::Instruction> instructions;
  for (const Instruction &instruction : program.instructions) {
    uint32_t item = std::visit([&](const auto &action) { return add(action); },
                               instruction.action);
    instructions.emplace_back(instruction.stream, instruction.location, item,
                              byte(instruction.action.index()));
  }
  auto name = builder_.CreateSharedString(program.name);
  return fb::CreateProgram(builder_, name, byte(program.phase), program.chunk,
                           program.numParameters,
                           builder_.CreateVectorOfStructs(instructions));
}

Offset<fb::DataSource> Writer::write(const DataSource &source) {
  auto name = builder_.CreateSharedString(source.name);
  auto tensor = builder_.CreateSharedString(source.rule.tensor);
  return fb::CreateDataSource(
      builder_, name, byte(source.rule.kind), byte(source.rule.dtype),
      source.rule.shuffle, tensor, source.rule.once, source.rule.heldOut,
      builder_.CreateVector(source.rule.weights), source.rule.finite);
}

Offset<fb::Entry> Writer::write(const Entry &entry) {
  std::vector<fb::Cell> table;
  for (const Cell &cell : entry.table) {
    table.emplace_back(cell.program, cell.microbatch);
  }
  std::vector<Offset<fb::Input>> inputs;
  for (const Input &input : entry.inputs) {
    auto name = builder_.CreateSharedString(input.name);
    auto layout = write(input.layout);
    inputs.push_back(fb::CreateInput(builder_, name, byte(input.dtype), layout,
                                     builder_.CreateVector(input.stages),
                                     input.dataOffset, input.source,
                                     input.limit));
  }
  std::vector<Offset<fb::Hyper>> hypers;
  for (const Hyper &hyper : entry.hypers) {
    const HyperRule &rule = hyper.rule;
    fb::HyperRule flat(rule.base, rule.last, rule.warmup, rule.total,
                       byte(rule.kind));
    auto name = builder_.CreateSharedString(hyper.name);
    hypers.push_back(fb::CreateHyper(builder_, name, byte(hyper.dtype), &flat));
  }
  std::vector<Offset<fb::Metric>> metrics;
  for (const Metric &metric : entry.metrics) {
    auto name = builder_.CreateSharedString(metric.name);
    metrics.push_back(fb::CreateMetric(builder_, name, byte(metric.dtype)));
  }
  std::vector<Offset<fb::Fetch>> fetches;
  for (const Fetch &fetch : entry.fetches) {
    auto name = builder_.CreateSharedString(fetch.name);
    auto layout = write(fetch.layout);
    auto stages = builder_.CreateVector(fetch.stages);
    auto of = builder_.CreateSharedString(fetch.of);
    auto origin = builder_.CreateVector(fetch.origin);
    fetches.push_back(fb::CreateFetch(builder_, name, byte(fetch.dtype), layout,
                                      stages, fetch.eachMicrobatch, of, origin,
                                      builder_.CreateVector(fetch.shape)));
  }
  auto name = builder_.CreateSharedString(entry.name);
  auto counts = builder_.CreateSharedString(entry.counts);
  auto prologue = builder_.CreateVector(entry.prologue);
  auto epilogue = builder_.CreateVector(entry.epilogue);
  auto cells = builder_.CreateVectorOfStructs(table);
  auto inputList = builder_.CreateVector(inputs);
  auto hyperList = builder_.CreateVector(hypers);
  auto metricList = builder_.CreateVector(metrics);
  return fb::CreateEntry(
      builder_, name, byte(entry.kind), counts, entry.numMicrobatches,
      entry.numChunks, entry.reorder, prologue, epilogue, cells, inputList,
      hyperList, metricList, builder_.CreateVector(fetches), entry.modelFlops);
}

Offset<fb::State> Writer::write(const State &state) {
  std::vector<Offset<fb::StatePart>> parts;
  for (const StatePart &part : state.parts) {
    auto origin = builder_.CreateVector(part.origin);
    auto layout = write(part.layout);
    auto stages = builder_.CreateVector(part.stages);
    parts.push_back(fb::CreateStatePart(builder_, origin, layout, stages,
                                        operand(part.place)));
  }
  const Source &source = state.source;
  fb::Draw draw(source.draw.a, source.draw.b, byte(source.draw.kind));
  auto tensor = builder_.CreateSharedString(source.tensor);
  auto flat = fb::CreateSource(builder_, byte(source.kind), &draw, source.file,
                               tensor, source.offset,
                               source.dtype ? byte(*source.dtype) : noDType);
  auto name = builder_.CreateSharedString(state.name);
  auto shape = builder_.CreateVector(state.shape);
  auto of = builder_.CreateSharedString(state.of);
  return fb::CreateState(builder_, name, shape, byte(state.dtype),
                         byte(state.role), of, flat,
                         builder_.CreateVector(parts));
}

Offset<fb::KernelObject> Writer::write(const KernelObject &object) {
  auto file = builder_.CreateSharedString(object.file);
  return fb::CreateKernelObject(builder_, file, object.hash,
                                strings(object.features));
}

Offset<fb::Plan> Writer::writePlanTable() {
  std::vector<Offset<fb::Axis>> axes;
  for (const MeshAxis &axis : plan_.mesh.axes) {
    auto name = builder_.CreateSharedString(axis.name);
    axes.push_back(fb::CreateAxis(builder_, name, axis.size));
  }
  std::vector<Offset<fb::Stream>> streams;
  for (const Stream &stream : plan_.streams) {
    auto name = builder_.CreateSharedString(stream.name);
    streams.push_back(
        fb::CreateStream(builder_, name, byte(stream.kind), stream.priority));
  }
  std::vector<fb::ExprNode> expressions;
  for (const ExprNode &node : plan_.expressions) {
    expressions.emplace_back(node.value, node.lhs, node.rhs, byte(node.op));
  }
  std::vector<fb::Buffer> buffers;
  std::vector<std::string> bufferNames;
  for (const Buffer &buffer : plan_.buffers) {
    buffers.emplace_back(buffer.offset, buffer.bytes, buffer.frame,
                         buffer.location);
    bufferNames.push_back(buffer.name);
  }
  std::vector<Offset<fb::Kernel>> kernels;
  for (const Kernel &kernel : plan_.kernels) {
    auto name = builder_.CreateSharedString(kernel.name);
    kernels.push_back(fb::CreateKernel(builder_, name, kernel.object));
  }
  auto axisList = builder_.CreateVector(axes);
  auto streamList = builder_.CreateVector(streams);
  auto kernelList = builder_.CreateVector(kernels);
  auto frames = writeAll(plan_.frames);
  auto objects = writeAll(plan_.objects);
  auto programs = writeAll(plan_.programs);
  auto entries = writeAll(plan_.entries);
  auto states = writeAll(plan_.states);
  auto sources = writeAll(plan_.sources);
  auto name = builder_.CreateSharedString(plan_.name);
  auto producer = builder_.CreateSharedString(plan_.producer);
  auto target = builder_.CreateSharedString(plan_.target);
  auto expressionList = builder_.CreateVectorOfStructs(expressions);
  auto bufferList = builder_.CreateVectorOfStructs(buffers);
  auto nameList = strings(bufferNames);
  auto symbols = strings(plan_.symbols);
  auto transfers = strings(plan_.transfers);
  auto files = strings(plan_.files);
  auto locations = strings(plan_.locations);
  auto arenas = builder_.CreateVector(plan_.arenas);
  auto numbers = builder_.CreateVector(numbers_);
  auto operands = builder_.CreateVectorOfStructs(operands_);
  auto launches = builder_.CreateVectorOfStructs(launches_);
  auto libraries = builder_.CreateVectorOfStructs(libraries_);
  auto contractions = builder_.CreateVectorOfStructs(contractions_);
  auto machine = writeMachine(builder_, plan_.machine);
  auto convolutions = builder_.CreateVectorOfStructs(convolutions_);
  auto attentions = builder_.CreateVectorOfStructs(attentions_);
  auto argsorts = builder_.CreateVectorOfStructs(argsorts_);
  auto grouped = builder_.CreateVectorOfStructs(groupedContractions_);
  auto collectives = builder_.CreateVectorOfStructs(collectives_);
  auto messages = builder_.CreateVectorOfStructs(messages_);
  auto exchanges = builder_.CreateVectorOfStructs(exchanges_);
  auto copies = builder_.CreateVectorOfStructs(copies_);
  auto fills = builder_.CreateVectorOfStructs(fills_);
  auto events = builder_.CreateVectorOfStructs(events_);
  auto calls = builder_.CreateVectorOfStructs(calls_);
  auto loops = builder_.CreateVectorOfStructs(loops_);
  auto branches = builder_.CreateVectorOfStructs(branches_);
  auto whiles = builder_.CreateVectorOfStructs(whiles_);
  return fb::CreatePlan(
      builder_, name, producer, plan_.seed, axisList, plan_.mesh.pipelineAxis,
      streamList, expressionList, frames, bufferList, nameList, symbols,
      transfers, objects, kernelList, programs, entries, states, files,
      locations, arenas, plan_.threads, numbers, operands, launches, libraries,
      contractions, convolutions, collectives, messages, exchanges, copies,
      fills, events, calls, loops, branches, sources, target, attentions,
      whiles, argsorts, grouped, machine);
}

std::string Writer::run() {
  fb::FinishPlanBuffer(builder_, writePlanTable());
  std::string bytes(sizeof(FileHeader), '\0');
  bytes.append(reinterpret_cast<const char *>(builder_.GetBufferPointer()),
               builder_.GetSize());
  resealPlan(bytes);
  return bytes;
}

/// A generous bound of the file's size: FlatBuffers checks its 2 GiB by an
/// assertion only.
static double estimateBytes(const Plan &plan) {
  double bytes = 1e6;
  for (const Program &program : plan.programs) {
    for (const Instruction &instruction : program.instructions) {
      bytes += 200 + 300.0 * usesOf(instruction.action).size();
    }
  }
  for (const Entry &entry : plan.entries) {
    bytes += 8.0 * entry.table.size();
  }
  for (const Buffer &buffer : plan.buffers) {
    bytes += 64.0 + buffer.name.size();
  }
  for (const std::string &location : plan.locations) {
    bytes += 16.0 + location.size();
  }
  return bytes + 2000.0 * plan.states.size() + 200.0 * plan.frames.size() +
         32.0 * plan.expressions.size();
}

Result<std::string> serializePlan(const Plan &plan) {
  LLMC_TRY(checkStructure(plan));
  if (estimateBytes(plan) > 2e9) {
    return makeError(ErrorKind::infeasible, "the plan exceeds 2 GiB");
  }
  return serializeUnchecked(plan);
}

std::string serializeUnchecked(const Plan &plan) { return Writer(plan).run(); }

void resealPlan(std::string &bytes) {
  FileHeader header = {};
  std::memcpy(header.magic, fileMagic, sizeof(header.magic));
  header.version = formatVersion;
  header.size = bytes.size() - sizeof(header);
  header.checksum =
      hash64(bytes.data() + sizeof(header), header.size, header.version);
  std::memcpy(bytes.data(), &header, sizeof(header));
}

Status writePlan(const Plan &plan, const std::string &path) {
  LLMC_TRY_ASSIGN(std::string bytes, serializePlan(plan));
  return writeFileAtomically(path, bytes);
}

} // namespace llmc::rt::plan

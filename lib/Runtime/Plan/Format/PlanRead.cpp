//===- PlanRead.cpp - Bytes to plans --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header, checksum, FlatBuffers verifier with limits, then the pools back into
// plain structs; every range is checked against its pool.
//
// Test: test/Runtime/Plan/Format/PlanFileTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanFormat.h"
#include "PlanReader.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace llmc::rt::plan {

std::vector<std::string> PlanReader::texts(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *v) {
  std::vector<std::string> strings;
  for (size_t i = 0; i < sizeOfVector(v); ++i) {
    strings.push_back(text(v->Get(i)));
  }
  return strings;
}

Layout PlanReader::layout(const fb::Layout *flat) {
  Layout layout;
  if (!flat || !flat->dims()) {
    failed_ |= !flat;
    return layout;
  }
  for (const fb::DimLayout *dim : *flat->dims()) {
    DimLayout out;
    out.axes = list(dim->axes());
    if (!charge(1 + sizeOfVector(dim->factors()), sizeof(fb::Factor))) {
      break;
    }
    for (size_t i = 0; i < sizeOfVector(dim->factors()); ++i) {
      const fb::Factor *factor = dim->factors()->Get(i);
      out.factors.push_back({factor->size(), factor->extent()});
    }
    layout.dims.push_back(std::move(out));
  }
  return layout;
}

Frame PlanReader::frame(const fb::Frame &flat) {
  Frame frame;
  frame.name = text(flat.name());
  frame.kind = static_cast<FrameKind>(flat.kind());
  frame.stages = list(flat.stages());
  frame.offset = flat.offset();
  frame.size = flat.size();
  frame.slots = flat.slots();
  frame.slot = flat.slot();
  frame.events = flat.events();
  frame.chunk = flat.chunk();
  return frame;
}

Program PlanReader::program(const fb::Program &flat) {
  Program program;
  program.name = text(flat.name());
  program.phase = static_cast<Phase>(flat.phase());
  program.chunk = flat.chunk();
  program.numParameters = flat.num_parameters();
  if (!charge(sizeOfVector(flat.instructions()), sizeof(fb::Instruction))) {
    return program;
  }
  for (size_t i = 0; i < sizeOfVector(flat.instructions()); ++i) {
    const fb::Instruction *instruction = flat.instructions()->Get(i);
    program.instructions.push_back(
        {instruction->stream(), instruction->location(),
         action(instruction->kind(), instruction->item())});
    if (failed_) {
      break;
    }
  }
  return program;
}

Entry PlanReader::entry(const fb::Entry &flat) {
  Entry entry;
  entry.name = text(flat.name());
  entry.kind = static_cast<EntryKind>(flat.kind());
  entry.counts = text(flat.counts());
  entry.numMicrobatches = flat.num_microbatches();
  entry.numChunks = flat.num_chunks();
  entry.reorder = flat.reorder();
  entry.modelFlops = flat.model_flops();
  entry.prologue = list(flat.prologue());
  entry.epilogue = list(flat.epilogue());
  if (!charge(sizeOfVector(flat.table()), sizeof(fb::Cell))) {
    return entry;
  }
  for (size_t i = 0; i < sizeOfVector(flat.table()); ++i) {
    const fb::Cell *cell = flat.table()->Get(i);
    entry.table.push_back({cell->program(), cell->microbatch()});
  }
  for (size_t i = 0; i < sizeOfVector(flat.inputs()); ++i) {
    const fb::Input *input = flat.inputs()->Get(i);
    entry.inputs.push_back(
        {text(input->name()), static_cast<DType>(input->dtype()),
         layout(input->layout()), list(input->stages()), input->source(),
         input->data_offset(), input->limit()});
  }
  for (size_t i = 0; i < sizeOfVector(flat.hypers()); ++i) {
    const fb::Hyper *hyper = flat.hypers()->Get(i);
    const fb::HyperRule *rule = hyper->rule();
    if (!rule) {
      failed_ = true;
      break;
    }
    entry.hypers.push_back(
        {text(hyper->name()), static_cast<DType>(hyper->dtype()),
         HyperRule{static_cast<HyperKind>(rule->kind()), rule->base(),
                   rule->last(), rule->warmup(), rule->total()}});
  }
  for (size_t i = 0; i < sizeOfVector(flat.metrics()); ++i) {
    const fb::Metric *metric = flat.metrics()->Get(i);
    entry.metrics.push_back(
        {text(metric->name()), static_cast<DType>(metric->dtype())});
  }
  for (size_t i = 0; i < sizeOfVector(flat.fetches()); ++i) {
    const fb::Fetch *fetch = flat.fetches()->Get(i);
    entry.fetches.push_back({text(fetch->name()),
                             static_cast<DType>(fetch->dtype()),
                             layout(fetch->layout()), list(fetch->stages()),
                             fetch->each_microbatch(), text(fetch->of()),
                             list(fetch->origin()), list(fetch->shape())});
  }
  return entry;
}

Machine PlanReader::machine() {
  const fb::Machine *flat = flat_.machine();
  Machine machine;
  if (!flat) {
    return machine;
  }
  machine.flops = flat->flops();
  machine.memory = flat->memory();
  machine.memoryBandwidth = flat->memory_bandwidth();
  for (size_t i = 0; i < sizeOfVector(flat->links()); ++i) {
    const fb::MachineLink *link = flat->links()->Get(i);
    machine.links.push_back(
        {text(link->name()), link->latency(), link->bandwidth()});
  }
  machine.axisLinks = list(flat->axis_links());
  for (size_t i = 0; i < sizeOfVector(flat->rates()); ++i) {
    const fb::MachineRate *rate = flat->rates()->Get(i);
    machine.rates.push_back({text(rate->type()), rate->flops()});
  }
  return machine;
}

State PlanReader::state(const fb::State &flat) {
  State state;
  state.name = text(flat.name());
  state.shape = list(flat.shape());
  state.dtype = static_cast<DType>(flat.dtype());
  state.role = static_cast<StateRole>(flat.role());
  state.of = text(flat.of());
  const fb::Source *source = flat.source();
  if (!source || !source->draw()) {
    failed_ = true;
    return state;
  }
  state.source.kind = static_cast<SourceKind>(source->kind());
  state.source.draw = {static_cast<DrawKind>(source->draw()->kind()),
                       source->draw()->a(), source->draw()->b()};
  state.source.file = source->file();
  state.source.tensor = text(source->tensor());
  state.source.offset = source->offset();
  if (source->dtype() != noDType) {
    state.source.dtype = static_cast<DType>(source->dtype());
  }
  for (size_t i = 0; i < sizeOfVector(flat.parts()); ++i) {
    const fb::StatePart *part = flat.parts()->Get(i);
    state.parts.push_back({list(part->origin()), layout(part->layout()),
                           list(part->stages()), operand(part->place())});
  }
  return state;
}

void PlanReader::readSmallTables(Plan &plan) {
  plan.name = text(flat_.name());
  plan.producer = text(flat_.producer());
  plan.target = text(flat_.target());
  plan.seed = flat_.seed();
  for (size_t i = 0; i < sizeOfVector(flat_.axes()); ++i) {
    const fb::Axis *axis = flat_.axes()->Get(i);
    plan.mesh.axes.push_back({text(axis->name()), axis->size()});
  }
  plan.mesh.pipelineAxis = flat_.pipeline_axis();
  plan.machine = machine();
  for (size_t i = 0; i < sizeOfVector(flat_.streams()); ++i) {
    const fb::Stream *stream = flat_.streams()->Get(i);
    plan.streams.push_back({text(stream->name()),
                            static_cast<StreamKind>(stream->kind()),
                            stream->priority()});
  }
  plan.symbols = texts(flat_.symbols());
  plan.transfers = texts(flat_.transfers());
  for (size_t i = 0; i < sizeOfVector(flat_.objects()); ++i) {
    const fb::KernelObject *object = flat_.objects()->Get(i);
    plan.objects.push_back(
        {text(object->file()), object->hash(), texts(object->features())});
  }
  for (size_t i = 0; i < sizeOfVector(flat_.kernels()); ++i) {
    const fb::Kernel *kernel = flat_.kernels()->Get(i);
    plan.kernels.push_back({text(kernel->name()), kernel->object()});
  }
  for (size_t i = 0; i < sizeOfVector(flat_.sources()); ++i) {
    const fb::DataSource *source = flat_.sources()->Get(i);
    plan.sources.push_back(
        {text(source->name()),
         {static_cast<DataKind>(source->kind()),
          static_cast<DType>(source->dtype()), source->shuffle(),
          text(source->tensor()), source->once(), source->held_out(),
          list(source->weights()), source->finite()}});
  }
  plan.files = texts(flat_.files());
  plan.locations = texts(flat_.locations());
  plan.arenas = list(flat_.arenas());
  plan.threads = flat_.threads();
}

void PlanReader::readTables(Plan &plan) {
  for (size_t i = 0; i < sizeOfVector(flat_.expressions()); ++i) {
    const fb::ExprNode *node = flat_.expressions()->Get(i);
    plan.expressions.push_back({static_cast<ExprOp>(node->op()), node->lhs(),
                                node->rhs(), node->value()});
  }
  for (size_t i = 0; i < sizeOfVector(flat_.frames()); ++i) {
    plan.frames.push_back(frame(*flat_.frames()->Get(i)));
  }
  for (size_t i = 0; i < sizeOfVector(flat_.buffers()); ++i) {
    const fb::Buffer *buffer = flat_.buffers()->Get(i);
    plan.buffers.push_back({buffer->frame(),
                            buffer->offset(),
                            buffer->bytes(),
                            {},
                            buffer->location()});
    if (i < sizeOfVector(flat_.buffer_names())) {
      plan.buffers.back().name = text(flat_.buffer_names()->Get(i));
    }
  }
  for (size_t i = 0; i < sizeOfVector(flat_.programs()) && !failed_; ++i) {
    plan.programs.push_back(program(*flat_.programs()->Get(i)));
  }
  for (size_t i = 0; i < sizeOfVector(flat_.entries()) && !failed_; ++i) {
    plan.entries.push_back(entry(*flat_.entries()->Get(i)));
  }
  for (size_t i = 0; i < sizeOfVector(flat_.states()) && !failed_; ++i) {
    plan.states.push_back(state(*flat_.states()->Get(i)));
  }
}

Result<Plan> PlanReader::run() {
  Plan plan;
  readSmallTables(plan);
  readTables(plan);
  if (failed_) {
    return makeError(ErrorKind::malformed,
                     "malformed plan: a record points outside its table");
  }
  LLMC_TRY(checkStructure(plan).inContext("malformed plan"));
  return plan;
}

static Status checkHeader(std::string_view bytes) {
  FileHeader header;
  if (bytes.size() < sizeof(header)) {
    return makeError(ErrorKind::malformed,
                     fmt::format("malformed plan: expected at least {} bytes, "
                                 "got {}",
                                 sizeof(header), bytes.size()));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, fileMagic, sizeof(header.magic)) != 0) {
    return makeError(ErrorKind::malformed,
                     "malformed plan: expected the magic \"LLMCPLAN\"");
  }
  if (header.version == 0 || header.zero != 0) {
    return makeError(ErrorKind::malformed, "malformed plan: bad header");
  }
  if (header.version != formatVersion) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("plan format {}, this runtime reads {}",
                                 header.version, formatVersion))
        .withHint("compile the plan again");
  }
  if (header.size != bytes.size() - sizeof(header)) {
    return makeError(
        ErrorKind::malformed,
        fmt::format("malformed plan: expected a payload of {} bytes, got {}",
                    header.size, bytes.size() - sizeof(header)));
  }
  uint64_t checksum =
      hash64(bytes.data() + sizeof(header), header.size, header.version);
  if (checksum != header.checksum) {
    return makeError(ErrorKind::malformed,
                     fmt::format("malformed plan: expected checksum {}, got {}",
                                 hexDigits(header.checksum),
                                 hexDigits(checksum)));
  }
  return Status::success();
}

Result<Plan> parsePlan(std::string_view bytes) {
  LLMC_TRY(checkHeader(bytes));
  std::string_view payload = bytes.substr(sizeof(FileHeader));
  if (payload.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    return makeError(ErrorKind::malformed, "malformed plan: over 2 GiB");
  }
  // FlatBuffers reads in place and wants its fields aligned.
  std::vector<uint64_t> aligned;
  auto *data = reinterpret_cast<const uint8_t *>(payload.data());
  if (reinterpret_cast<uintptr_t>(data) % 16 != 0) {
    aligned.resize(payload.size() / 8 + 1);
    std::memcpy(aligned.data(), data, payload.size());
    data = reinterpret_cast<const uint8_t *>(aligned.data());
  }
  constexpr flatbuffers::uoffset_t maxDepth = 16, maxTables = 4000000;
  flatbuffers::Verifier verifier(data, payload.size(), maxDepth, maxTables);
  if (!fb::VerifyPlanBuffer(verifier)) {
    return makeError(ErrorKind::malformed,
                     "malformed plan: not a FlatBuffer of plan.fbs");
  }
  return PlanReader(*fb::GetPlan(data), payload.size()).run();
}

std::string planFileOf(const std::string &path) {
  std::error_code code;
  if (!std::filesystem::is_directory(path, code)) {
    return path;
  }
  return (std::filesystem::path(path) / "plan.llmc").string();
}

Result<Plan> readPlan(const std::string &path) {
  std::string name = planFileOf(path);
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(name));
  Result<Plan> plan = parsePlan(file.text());
  if (!plan) {
    return plan.status().at(name);
  }
  return plan;
}

} // namespace llmc::rt::plan

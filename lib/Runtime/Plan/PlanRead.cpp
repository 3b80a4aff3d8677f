//===- PlanRead.cpp - Bytes to plans --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header, checksum, FlatBuffers verifier with limits, then the pools back into
// plain structs; every range is checked against its pool.
//
// Test: test/Runtime/Plan/PlanFileTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanFormat.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Plan/PlanFile.h"

#include "plan_generated.h"

#include <cstring>
#include <fmt/format.h>

namespace llmc::rt::plan {

namespace {

/// Reads with sticky failure: once a range is wrong, `failed` stays set and the
/// plan is refused as a whole.
class Reader {
public:
  Reader(const fb::Plan &flat, size_t bytes)
      : flat_(flat), budget_(int64_t(16 << 20) + 8 * int64_t(bytes)) {}
  Result<Plan> run();

private:
  template <typename T>
  static size_t sizeOfVector(const flatbuffers::Vector<T> *vector) {
    return vector ? vector->size() : 0;
  }
  /// FlatBuffers may share parts, so a small file can describe a huge plan:
  /// what is unpacked must stay in proportion to the file.
  bool charge(size_t count, size_t size) {
    budget_ -= static_cast<int64_t>(count * size);
    failed_ |= budget_ < 0;
    return !failed_;
  }
  std::string text(const flatbuffers::String *string) {
    return string && charge(string->size(), 1) ? string->str() : std::string();
  }
  template <typename T>
  std::vector<T> list(const flatbuffers::Vector<T> *vector) {
    return vector && charge(vector->size(), sizeof(T))
               ? std::vector<T>(vector->begin(), vector->end())
               : std::vector<T>();
  }
  std::vector<std::string>
  texts(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *v);

  /// The element of a pool, or null (and failure).
  template <typename T>
  const T *item(const flatbuffers::Vector<const T *> *pool, uint32_t index) {
    if (index >= sizeOfVector(pool)) {
      failed_ = true;
      return nullptr;
    }
    return pool->Get(index);
  }
  bool fits(const fb::Range &range, size_t size) {
    failed_ |= uint64_t(range.first()) + range.count() > size;
    return !failed_ && charge(range.count(), sizeof(fb::Operand));
  }
  template <typename T> std::vector<T> numbers(const fb::Range &range);
  Operand operand(uint32_t index);
  std::vector<Operand> operands(const fb::Range &range);
  Message message(uint32_t index);
  Message message(const fb::Message &flat);
  std::vector<Message> messages(const fb::Range &range);

  KernelLaunch kernelLaunch(uint32_t index);
  Contraction contraction(uint32_t index);
  Collective collective(uint32_t index);
  Exchange exchange(uint32_t index);
  Copy copy(uint32_t index);
  Fill fill(uint32_t index);
  EventRef event(uint32_t index);
  Call call(uint32_t index);
  Loop loop(uint32_t index);
  Branch branch(uint32_t index);
  Action action(uint8_t kind, uint32_t index);

  Layout layout(const fb::Layout *flat);
  Program program(const fb::Program &flat);
  Entry entry(const fb::Entry &flat);
  State state(const fb::State &flat);
  Frame frame(const fb::Frame &flat);
  void readTables(Plan &plan);
  void readSmallTables(Plan &plan);

  const fb::Plan &flat_;
  /// Bytes that may still be unpacked.
  int64_t budget_;
  bool failed_ = false;
};

} // namespace

std::vector<std::string> Reader::texts(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *v) {
  std::vector<std::string> strings;
  for (size_t i = 0; i < sizeOfVector(v); ++i) {
    strings.push_back(text(v->Get(i)));
  }
  return strings;
}

template <typename T> std::vector<T> Reader::numbers(const fb::Range &range) {
  std::vector<T> values;
  if (!fits(range, sizeOfVector(flat_.numbers()))) {
    return values;
  }
  for (uint32_t i = 0; i < range.count(); ++i) {
    int64_t value = flat_.numbers()->Get(range.first() + i);
    if constexpr (sizeof(T) < sizeof(int64_t)) {
      // A value that does not fit would change its meaning.
      int64_t high = sizeof(T) == 4 ? INT32_MAX : UINT8_MAX;
      failed_ |= value > high || value < (sizeof(T) == 4 ? INT32_MIN : 0);
    }
    values.push_back(static_cast<T>(value));
  }
  return values;
}

Operand Reader::operand(uint32_t index) {
  Operand operand;
  const fb::Operand *flat = item(flat_.operands(), index);
  if (!flat) {
    return operand;
  }
  operand.buffer = flat->buffer();
  operand.dtype = static_cast<DType>(flat->dtype());
  operand.expr = flat->expr();
  operand.offset = flat->offset();
  fb::Range shape(flat->dims().first(), flat->rank());
  operand.shape = numbers<int64_t>(shape);
  if (flat->strided()) {
    // Wraps at most to a range that is checked like any other.
    fb::Range strides(flat->dims().first() + flat->rank(), flat->rank());
    operand.strides = numbers<int64_t>(strides);
  }
  return operand;
}

std::vector<Operand> Reader::operands(const fb::Range &range) {
  std::vector<Operand> list;
  if (fits(range, sizeOfVector(flat_.operands()))) {
    for (uint32_t i = 0; i < range.count(); ++i) {
      list.push_back(operand(range.first() + i));
    }
  }
  return list;
}

KernelLaunch Reader::kernelLaunch(uint32_t index) {
  KernelLaunch launch;
  const fb::KernelLaunch *flat = item(flat_.launches(), index);
  if (!flat) {
    return launch;
  }
  launch.kernel = flat->kernel();
  launch.operands = operands(flat->operands());
  if (launch.operands.empty()) {
    failed_ = true;
    return launch;
  }
  launch.scratch = std::move(launch.operands.back());
  launch.operands.pop_back();
  launch.access = numbers<Access>(flat->access());
  launch.scalars = numbers<ExprId>(flat->scalars());
  return launch;
}

Contraction Reader::contraction(uint32_t index) {
  Contraction contraction;
  const fb::Contraction *flat = item(flat_.contractions(), index);
  if (!flat) {
    return contraction;
  }
  std::vector<Operand> list = operands(flat->operands());
  std::vector<int64_t> dims = numbers<int64_t>(flat->dims());
  if (list.size() != 4 || dims.size() % 5 != 0) {
    failed_ = true;
    return contraction;
  }
  contraction.a = std::move(list[0]);
  contraction.b = std::move(list[1]);
  contraction.c = std::move(list[2]);
  contraction.scratch = std::move(list[3]);
  for (size_t i = 0; i < dims.size(); i += 5) {
    failed_ |= dims[i] < 0 || dims[i] > 3;
    contraction.dims.push_back({static_cast<ContractionDimKind>(dims[i]),
                                dims[i + 1], dims[i + 2], dims[i + 3],
                                dims[i + 4]});
  }
  contraction.accumulate = static_cast<DType>(flat->accumulate());
  contraction.alpha = flat->alpha();
  contraction.beta = flat->beta();
  contraction.scratchBytes = flat->scratch_bytes();
  contraction.packedBytes = flat->packed_bytes();
  return contraction;
}

Collective Reader::collective(uint32_t index) {
  Collective collective;
  const fb::Collective *flat = item(flat_.collectives(), index);
  if (!flat) {
    return collective;
  }
  std::vector<Operand> list = operands(flat->operands());
  if (list.size() % 2 != 1) {
    failed_ = true;
    return collective;
  }
  size_t count = list.size() / 2;
  collective.counts = std::move(list.back());
  collective.inputs.assign(list.begin(), list.begin() + count);
  collective.outputs.assign(list.begin() + count, list.begin() + 2 * count);
  collective.symbol = flat->symbol();
  collective.kind = static_cast<CollectiveKind>(flat->kind());
  collective.axes = numbers<int32_t>(flat->axes());
  collective.stages = numbers<int32_t>(flat->stages());
  collective.reduction = static_cast<Reduction>(flat->reduction());
  collective.dim = flat->dim();
  collective.concatDim = flat->concat_dim();
  collective.peer = flat->peer();
  return collective;
}

Message Reader::message(const fb::Message &flat) {
  return {flat.transfer(), flat.peer(), operands(flat.operands())};
}

Message Reader::message(uint32_t index) {
  const fb::Message *flat = item(flat_.messages(), index);
  return flat ? message(*flat) : Message();
}

std::vector<Message> Reader::messages(const fb::Range &range) {
  std::vector<Message> list;
  if (fits(range, sizeOfVector(flat_.messages()))) {
    for (uint32_t i = 0; i < range.count(); ++i) {
      list.push_back(message(range.first() + i));
    }
  }
  return list;
}

Exchange Reader::exchange(uint32_t index) {
  const fb::Exchange *flat = item(flat_.exchanges(), index);
  return flat ? Exchange{messages(flat->sends()), messages(flat->receives())}
              : Exchange();
}

Copy Reader::copy(uint32_t index) {
  Copy copy;
  const fb::Copy *flat = item(flat_.copies(), index);
  if (!flat) {
    return copy;
  }
  std::vector<Operand> list = operands(flat->operands());
  if (list.size() != 2) {
    failed_ = true;
    return copy;
  }
  return {std::move(list[0]), std::move(list[1]),
          static_cast<HostEnd>(flat->host()), flat->index()};
}

Fill Reader::fill(uint32_t index) {
  const fb::Fill *flat = item(flat_.fills(), index);
  return flat ? Fill{operand(flat->operand()), flat->pattern()} : Fill();
}

EventRef Reader::event(uint32_t index) {
  const fb::Event *flat = item(flat_.events(), index);
  return flat ? EventRef{flat->frame(), flat->event()} : EventRef();
}

Call Reader::call(uint32_t index) {
  const fb::Call *flat = item(flat_.calls(), index);
  return flat ? Call{flat->program(), flat->microbatch(),
                     numbers<ExprId>(flat->arguments())}
              : Call();
}

Loop Reader::loop(uint32_t index) {
  const fb::Loop *flat = item(flat_.loops(), index);
  return flat ? Loop{flat->trips(), flat->program()} : Loop();
}

Branch Reader::branch(uint32_t index) {
  const fb::Branch *flat = item(flat_.branches(), index);
  return flat ? Branch{operand(flat->operand()), flat->program()} : Branch();
}

Action Reader::action(uint8_t kind, uint32_t index) {
  switch (kind) {
  case 0:
    return kernelLaunch(index);
  case 1:
    return contraction(index);
  case 2:
    return collective(index);
  case 3:
    return Send{message(index)};
  case 4:
    return Receive{message(index)};
  case 5:
    return exchange(index);
  case 6:
    return copy(index);
  case 7:
    return fill(index);
  case 8:
    return Signal{event(index)};
  case 9:
    return Wait{event(index)};
  case 10:
    return call(index);
  case 11:
    return loop(index);
  case 12:
    return branch(index);
  default:
    failed_ = true;
    return Signal();
  }
}

Layout Reader::layout(const fb::Layout *flat) {
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

Frame Reader::frame(const fb::Frame &flat) {
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

Program Reader::program(const fb::Program &flat) {
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

Entry Reader::entry(const fb::Entry &flat) {
  Entry entry;
  entry.name = text(flat.name());
  entry.kind = static_cast<EntryKind>(flat.kind());
  entry.numMicrobatches = flat.num_microbatches();
  entry.numChunks = flat.num_chunks();
  entry.reorder = flat.reorder();
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
         layout(input->layout()), list(input->stages()), input->data_offset()});
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
                             fetch->each_microbatch()});
  }
  return entry;
}

State Reader::state(const fb::State &flat) {
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
  for (size_t i = 0; i < sizeOfVector(flat.parts()); ++i) {
    const fb::StatePart *part = flat.parts()->Get(i);
    state.parts.push_back({list(part->origin()), layout(part->layout()),
                           list(part->stages()), operand(part->place())});
  }
  return state;
}

void Reader::readSmallTables(Plan &plan) {
  plan.name = text(flat_.name());
  plan.producer = text(flat_.producer());
  plan.seed = flat_.seed();
  for (size_t i = 0; i < sizeOfVector(flat_.axes()); ++i) {
    const fb::Axis *axis = flat_.axes()->Get(i);
    plan.mesh.axes.push_back({text(axis->name()), axis->size()});
  }
  plan.mesh.pipelineAxis = flat_.pipeline_axis();
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
  plan.files = texts(flat_.files());
  plan.locations = texts(flat_.locations());
  plan.arenas = list(flat_.arenas());
  plan.threads = flat_.threads();
}

void Reader::readTables(Plan &plan) {
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

Result<Plan> Reader::run() {
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
  if (header.version > formatVersion) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("plan format {}, this runtime reads 1-{}",
                                 header.version, formatVersion));
  }
  if (header.version == 0 || header.zero != 0) {
    return makeError(ErrorKind::malformed, "malformed plan: bad header");
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
  return Reader(*fb::GetPlan(data), payload.size()).run();
}

Result<Plan> readPlan(const std::string &path) {
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  Result<Plan> plan = parsePlan(file.text());
  if (!plan) {
    return plan.status().at(path);
  }
  return plan;
}

} // namespace llmc::rt::plan

//===- PlanReader.h - Bytes to plans ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader of plan.fbs; its tables are read in PlanRead.cpp, its instructions
// in ActionRead.cpp.
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_PLAN_PLANREADER_H
#define LLMC_LIB_RUNTIME_PLAN_PLANREADER_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include "plan_generated.h"

#include <string>
#include <type_traits>
#include <vector>

namespace llmc::rt::plan {

/// Reads with sticky failure: once a range is wrong, `failed` stays set and the
/// plan is refused as a whole.
class PlanReader {
public:
  PlanReader(const fb::Plan &flat, size_t bytes)
      : flat_(flat), budget_(int64_t(16 << 20) + 8 * int64_t(bytes)) {}
  Result<Plan> run();

private:
  /// Of elements that may be read: 0 for a vector that is not aligned, which
  /// the verifier of FlatBuffers lets pass.
  template <typename T>
  size_t sizeOfVector(const flatbuffers::Vector<T> *vector) {
    if (!vector) {
      return 0;
    }
    constexpr size_t size = alignof(std::remove_pointer_t<T>);
    failed_ |= vector->size() > 0 &&
               reinterpret_cast<uintptr_t>(vector->Data()) % size != 0;
    return failed_ ? 0 : vector->size();
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
    return charge(sizeOfVector(vector), sizeof(T)) && vector
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
  Operand takeLast(std::vector<Operand> &list);
  Message message(uint32_t index);
  Message message(const fb::Message &flat);
  std::vector<Message> messages(const fb::Range &range);

  KernelLaunch kernelLaunch(uint32_t index);
  std::vector<ContractionIndex> indices(const fb::Range &range);
  ContractionShape contraction(uint32_t index);
  ConvolutionShape convolution(uint32_t index);
  AttentionShape attention(uint32_t index);
  ArgsortShape argsort(uint32_t index);
  GroupedContractionShape groupedContraction(uint32_t index);
  LibraryDescriptor descriptor(uint8_t kind, uint32_t index);
  Library library(uint32_t index);
  Collective collective(uint32_t index);
  Exchange exchange(uint32_t index);
  Copy copy(uint32_t index);
  Fill fill(uint32_t index);
  EventRef event(uint32_t index);
  Call call(uint32_t index);
  Loop loop(uint32_t index);
  Branch branch(uint32_t index);
  While conditional(uint32_t index);
  Action action(uint8_t kind, uint32_t index);

  Layout layout(const fb::Layout *flat);
  Program program(const fb::Program &flat);
  Machine machine();
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

} // namespace llmc::rt::plan

#endif // LLMC_LIB_RUNTIME_PLAN_PLANREADER_H

//===- LibraryConvolution.cpp - Convolutions by oneDNN --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One of oneDNN's three convolution primitives (ConvolutionRoles.h), made at
// load. oneDNN reads and writes features that lie side by side as they are, and
// chooses the layout of all else: then an operand is copied into the workspace
// first, or the result out of it.
//
//   x [8, 32, 32, 64]  ----------------+
//   w [3, 3, 64, 64]  -> blocks of 8 --+-> convolution -> y [8, 32, 32, 64]
//
// What is added to c, weights that are flipped, and narrow floats take the way
// through the workspace too. A run sets handles and calls the C interface with
// arguments that were made at load, so that we allocate nothing.
//
//===----------------------------------------------------------------------===//

#include "../StridedCopy.h"
#include "Convolution.h"
#include "ConvolutionPrimitive.h"

#include <fmt/format.h>

#include <array>

namespace llmc::rt::cpu {

namespace {

/// A primitive with its arguments, ready to be called.
struct Call {
  dnnl::primitive primitive;
  std::vector<dnnl_exec_arg_t> arguments;

  void run() const {
    dnnl_primitive_execute(primitive.get(), workerStream().get(),
                           static_cast<int>(arguments.size()),
                           arguments.data());
  }
};

/// Memory whose handle is set before each run: `offset` bytes into the
/// workspace, or where an operand lies.
struct Placed {
  dnnl::memory memory;
  uint64_t offset = 0;
};

/// An operand on its way to the convolution, or from it.
struct Passage {
  Placed own, wanted; ///< The same memory where nothing is copied.
  /// What flips it and makes it f32: before any other copy of what is read,
  /// after it of what is written.
  std::unique_ptr<StridedCopy> strided;
  uint64_t stridedAt = 0; ///< Offset of that copy.
  std::unique_ptr<Call> copy;
};

class LibraryConvolution final : public OpSlice {
public:
  LibraryConvolution(const ConvolutionShape &shape,
                     const ConvolutionQuestion &question,
                     const ConvolutionPrimitive &answer);

  uint64_t workspaceBytes() const override { return bytes; }
  void run(const SliceBuffers &at) override;

private:
  void pass(ConvolutionOperand operand, const DescribedOperand &described,
            const dnnl::memory::desc &wanted);
  void addCopy(Passage &passage, bool isRead);
  void addStridedCopy(ConvolutionOperand operand,
                      const DescribedOperand &described, DType type,
                      const std::vector<bool> &isFlipped);
  void addConvolution(const ConvolutionQuestion &question,
                      const ConvolutionPrimitive &answer);
  Placed place(const dnnl::memory::desc &desc);
  uint64_t reserve(uint64_t size) {
    uint64_t at = bytes;
    bytes += (size + 63) / 64 * 64;
    return at;
  }

  std::array<Passage, 3> passages;
  Placed bias, scratch;
  std::vector<Placed> inWorkspace;
  Call convolution;
  ConvolutionRoles roles;
  uint64_t bytes = 0;
  int64_t skipped = 0; ///< Bytes of the source.
  bool adds;
};

Placed LibraryConvolution::place(const dnnl::memory::desc &desc) {
  Placed placed{dnnl::memory(desc, libraryEngine(), nullptr),
                reserve(desc.get_size())};
  inWorkspace.push_back(placed);
  return placed;
}

/// A copy between the operand and what the convolution wants. What is read may
/// be copied before, what is written after it; and added up then.
void LibraryConvolution::addCopy(Passage &passage, bool isRead) {
  const dnnl::memory &from =
                         isRead ? passage.own.memory : passage.wanted.memory,
                     &to = isRead ? passage.wanted.memory : passage.own.memory;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!isRead && adds && !passage.strided) {
    dnnl::post_ops operations;
    operations.append_sum(1.0f);
    attributes.set_post_ops(operations);
  }
  dnnl::reorder::primitive_desc desc(libraryEngine(), from.get_desc(),
                                     libraryEngine(), to.get_desc(),
                                     attributes);
  Placed space = place(desc.scratchpad_desc());
  passage.copy =
      std::make_unique<Call>(Call{dnnl::reorder(desc),
                                  {{DNNL_ARG_FROM, from.get()},
                                   {DNNL_ARG_TO, to.get()},
                                   {DNNL_ARG_SCRATCHPAD, space.memory.get()}}});
}

/// The way of one operand. A result that is added to is made apart.
void LibraryConvolution::pass(ConvolutionOperand operand,
                              const DescribedOperand &described,
                              const dnnl::memory::desc &wanted) {
  Passage &passage = passages[operand];
  bool isRead = operand != operandC;
  bool isCopied =
      described.plain() != wanted || (!isRead && adds && !passage.strided);
  passage.own.memory = dnnl::memory(isCopied ? described.plain() : wanted,
                                    libraryEngine(), nullptr);
  passage.wanted = passage.own;
  if (isCopied) {
    passage.wanted = place(wanted);
    addCopy(passage, isRead);
  }
}

/// Flips the last dims that are, and makes all f32; nothing where that is so.
void LibraryConvolution::addStridedCopy(ConvolutionOperand operand,
                                        const DescribedOperand &described,
                                        DType type,
                                        const std::vector<bool> &isFlipped) {
  std::vector<CopiedDim> dims;
  for (size_t d = 0; d < described.dims.size(); ++d) {
    dims.push_back({described.dims[d], described.strides[d]});
  }
  bool isNeeded = type != DType::f32;
  for (size_t d = 0; d < isFlipped.size(); ++d) {
    dims[dims.size() - isFlipped.size() + d].isFlipped = isFlipped[d];
    isNeeded |= isFlipped[d];
  }
  if (isNeeded) {
    Passage &passage = passages[operand];
    passage.strided = std::make_unique<StridedCopy>(std::move(dims), type);
    passage.stridedAt = reserve(passage.strided->bytes());
  }
}

void LibraryConvolution::addConvolution(const ConvolutionQuestion &question,
                                        const ConvolutionPrimitive &answer) {
  bool isForward = roles.destination == operandC,
       byData = roles.source == operandC;
  convolution.primitive = answer.primitive;
  scratch = place(answer.scratch);
  auto add = [&](int argument, const Placed &placed) {
    convolution.arguments.push_back({argument, placed.memory.get()});
  };
  add(byData ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, passages[roles.source].wanted);
  add(isForward || byData ? DNNL_ARG_WEIGHTS : DNNL_ARG_DIFF_WEIGHTS,
      passages[roles.weights].wanted);
  add(isForward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST,
      passages[roles.destination].wanted);
  add(DNNL_ARG_SCRATCHPAD, scratch);
  if (question.hasBias) {
    bias.memory = dnnl::memory(question.bias(), libraryEngine(), nullptr);
    add(DNNL_ARG_BIAS, bias);
  }
}

LibraryConvolution::LibraryConvolution(const ConvolutionShape &shape,
                                       const ConvolutionQuestion &question,
                                       const ConvolutionPrimitive &answer)
    : roles(question.shape.roles), adds(shape.beta != 0) {
  const std::array<DType, 3> types = {shape.a, shape.b, shape.c};
  std::vector<bool> isFlipped;
  for (const RoleWindow &window : question.shape.windows) {
    isFlipped.push_back(window.isFlipped);
  }
  skipped = question.shape.skipped *
            static_cast<int64_t>(sizeOf(types[roles.source]));
  auto add = [&](ConvolutionOperand operand, const DescribedOperand &described,
                 const dnnl::memory::desc &wanted) {
    addStridedCopy(operand, described, types[operand],
                   operand == roles.weights ? isFlipped : std::vector<bool>());
    pass(operand, described, wanted);
  };
  add(roles.source, question.source, answer.source);
  add(roles.weights, question.weights, answer.weights);
  add(roles.destination, question.destination, answer.destination);
  addConvolution(question, answer);
}

void LibraryConvolution::run(const SliceBuffers &at) {
  auto *workspace = static_cast<char *>(at.workspace);
  // What is read is so only, though the interface takes it as void *.
  std::array<char *, 3> operands = {
      static_cast<char *>(const_cast<void *>(at.a)),
      static_cast<char *>(const_cast<void *>(at.b)), static_cast<char *>(at.c)};
  operands[roles.source] += skipped;
  for (const Placed &placed : inWorkspace) {
    dnnl_memory_set_data_handle(placed.memory.get(), workspace + placed.offset);
  }
  for (size_t i : {operandA, operandB, operandC}) {
    const Passage &passage = passages[i];
    char *own = passage.strided ? workspace + passage.stridedAt : operands[i];
    dnnl_memory_set_data_handle(passage.own.memory.get(), own);
    if (passage.strided && i != operandC) {
      passage.strided->read(operands[i], own);
    }
    if (passage.copy && i != operandC) {
      passage.copy->run();
    }
  }
  if (at.bias) {
    dnnl_memory_set_data_handle(bias.memory.get(), const_cast<void *>(at.bias));
  }
  convolution.run();
  const Passage &result = passages[operandC];
  if (result.copy) {
    result.copy->run();
  }
  if (result.strided) {
    result.strided->write(workspace + result.stridedAt, operands[operandC],
                          adds);
  }
}

} // namespace

Result<std::unique_ptr<OpSlice>>
makeLibraryConvolution(const ConvolutionShape &shape, const std::string &name) {
  std::unique_ptr<OpSlice> none;
  std::optional<ConvolutionQuestion> question = makeQuestion(shape);
  if (!question) {
    return std::move(none);
  }
  OneThread limit;
  try {
    return std::unique_ptr<OpSlice>(std::make_unique<LibraryConvolution>(
        shape, *question, makePrimitive(*question)));
  } catch (const dnnl::error &error) {
    if (error.status == dnnl_unimplemented ||
        error.status == dnnl_invalid_arguments) {
      return std::move(none);
    }
    return makeError(ErrorKind::mismatch,
                     fmt::format("oneDNN cannot make convolution '{}': {}",
                                 name, error.what()));
  }
}

} // namespace llmc::rt::cpu

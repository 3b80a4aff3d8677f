//===- NodeImport.h - One node while it becomes ops -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the handler of an op sees of a node: its operands, its attributes, the
// version of its operator set, a builder, and the places of its results.
//
//   rt::Status importIdentity(NodeImport &node) {
//     return node.finish({node.input(0)});
//   }
//
// A handler checks what a file may get wrong (ranks, axes, sizes); that types
// agree is checked for all nodes, by the verifiers of the ops that it built.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_NODEIMPORT_H
#define LLMC_LIB_IMPORT_ONNX_NODEIMPORT_H

#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Import/Onnx/Model.h"
#include "llmc/Runtime/Base/Status.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

namespace llmc::onnx {

class GraphImporter;

/// A list of tensors, or one that is no list; empty for an optional operand
/// that is not given.
struct Binding {
  SmallVector<Value, 1> values;
  bool isList = false;
};

class NodeImport {
public:
  NodeImport(GraphImporter &importer, const Node &node, OpBuilder &builder,
             Location location, int64_t version)
      : b(builder), loc(location), importer(importer), node(node),
        version(version) {}

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  unsigned numInputs() const { return inputs.size(); }
  unsigned numOutputs() const;
  /// An operand that the node has.
  bool has(unsigned i) const {
    return i < inputs.size() && !inputs[i].values.empty();
  }
  /// A result that somebody names.
  bool wants(unsigned i) const;
  /// Assumes `has(i)`, and no list.
  Value input(unsigned i) const { return inputs[i].values.front(); }
  const Binding &binding(unsigned i) const { return inputs[i]; }
  RankedTensorType type(unsigned i) const {
    return cast<RankedTensorType>(input(i).getType());
  }
  ArrayRef<int64_t> shape(unsigned i) const { return type(i).getShape(); }
  int64_t rank(unsigned i) const { return type(i).getRank(); }
  Type element(unsigned i) const { return type(i).getElementType(); }
  /// All operands, none of which may be missing.
  SmallVector<Value> allInputs() const;

  /// The elements of an operand that must be known now.
  rt::Result<HostTensor> constant(unsigned i, const char *what);
  rt::Result<HostTensor> constantOf(Value value, const char *what);
  rt::Result<SmallVector<int64_t>> integers(unsigned i, const char *what);
  rt::Result<int64_t> integer(unsigned i, const char *what);
  rt::Result<double> number(unsigned i, const char *what);

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  const NodeAttribute *attribute(StringRef name) const;
  int64_t getInt(StringRef name, int64_t otherwise) const;
  double getFloat(StringRef name, double otherwise) const;
  StringRef getText(StringRef name, StringRef otherwise) const;
  rt::Result<const Graph *> graph(StringRef name) const;
  /// Nothing where there is none of that name.
  std::optional<SmallVector<int64_t>> getInts(StringRef name) const;
  /// The integers of an attribute in old versions, of an operand in new ones;
  /// nothing where neither is given.
  rt::Result<std::optional<SmallVector<int64_t>>>
  getIntsOrInput(StringRef name, unsigned operand);

  /// Axes counted from 0, each once, of a tensor of `rank` dimensions.
  rt::Result<int64_t> axis(int64_t axis, int64_t rank) const;
  rt::Result<SmallVector<int64_t>> axes(ArrayRef<int64_t> axes,
                                        int64_t rank) const;

  //===--------------------------------------------------------------------===//
  // Building
  //===--------------------------------------------------------------------===//

  OpBuilder &b;
  Location loc;

  /// The shape to which all are repeated, by the rules of NumPy.
  rt::Result<SmallVector<int64_t>> broadcastShape(ArrayRef<Value> values) const;
  Value broadcast(Value value, ArrayRef<int64_t> shape) const;
  /// The values in the shape of all of them.
  rt::Result<SmallVector<Value>> broadcastAll(ArrayRef<Value> values) const;
  Value convert(Value value, Type element) const;
  Value splat(ArrayRef<int64_t> shape, Type element, double value) const {
    return stablehlo::constantSplat(
        b, loc, RankedTensorType::get(shape, element), value);
  }
  Value like(Value value, double number) const {
    return stablehlo::constantLike(b, loc, value, number);
  }
  /// A tensor of i64.
  Value integersAsTensor(ArrayRef<int64_t> values,
                         ArrayRef<int64_t> shape) const;

  /// Gives the first results their values; a missing one is refused if named.
  rt::Status finish(ArrayRef<Value> values);
  rt::Status finishList(ArrayRef<Value> values);

  rt::Status refuse(const std::string &message,
                    rt::ErrorKind kind = rt::ErrorKind::diagnosed) const;
  rt::Status unsupported(const std::string &message) const {
    return refuse(message, rt::ErrorKind::unsupported);
  }

  GraphImporter &importer;
  const Node &node;
  /// Of the node's domain.
  int64_t version;
  std::vector<Binding> inputs, outputs;
  /// Of a node in a function's body: the call, and the function.
  const NodeImport *frameCall = nullptr;
  const Function *frameFunction = nullptr;
};

/// "[2, 3]".
std::string show(ArrayRef<int64_t> numbers);
std::string show(Type type);
ArrayRef<int64_t> shapeOf(Value value);
int64_t rankOf(Value value);
Type elementOf(Value value);
/// The numbers from `begin` to before `end`.
SmallVector<int64_t> range(int64_t begin, int64_t end);

/// Gives a body of reduce, scatter or a window its one op on two scalars, or
/// with no kind the second of them.
void addCombination(OpBuilder &b, Location loc, Region &body,
                    std::optional<ReductionKind> kind, Type element);

/// Between the largest numbers of `element`, a float of eight bits; infinities
/// too, as the operator's table has it. Not a number stays that.
Value saturate(NodeImport &node, Value value, Type element);

/// How one op is imported.
struct OpEntry {
  rt::Status (*handle)(NodeImport &);
  /// Operands that must be there, and how many there may be.
  unsigned fewest, most;
  /// The newest version of the operator set in which the op is as the handler
  /// knows it.
  int64_t newest;
};
constexpr unsigned kAny = ~0u;
constexpr int64_t kNewestKnown = 28;

using OpTable = llvm::StringMap<OpEntry>;

/// "Conv", or "com.microsoft.FastGelu".
std::string nameOfOp(const Node &node);
/// The function of the model that a node calls, or null.
const Function *findFunctionOf(const Model &model, const Node &node);

void addAllOps(OpTable &table);
/// Each adds its family.
void addElementwiseOps(OpTable &table);
void addActivationOps(OpTable &table);
void addShapeOps(OpTable &table);
void addMovementOps(OpTable &table);
void addConstantOps(OpTable &table);
void addReductionOps(OpTable &table);
void addSearchOps(OpTable &table);
void addContractionOps(OpTable &table);
void addEinsumOps(OpTable &table);
void addConvolutionOps(OpTable &table);
void addPoolOps(OpTable &table);
void addPositionOps(OpTable &table);
void addResizeOps(OpTable &table);
void addNormOps(OpTable &table);
void addIndexingOps(OpTable &table);
void addControlOps(OpTable &table);
void addScanOps(OpTable &table);
void addSequenceOps(OpTable &table);
void addLossOps(OpTable &table);
void addOptimizerOps(OpTable &table);
void addAttentionOps(OpTable &table);
void addRandomOps(OpTable &table);
void addRecurrentOps(OpTable &table);
void addLinearAttentionOps(OpTable &table);
void addQuantizationOps(OpTable &table);

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_NODEIMPORT_H

//===- Model.h - What an ONNX file says, as plain structs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages of onnx.proto that the import reads. Texts and elements are
// views of the mapped file, so that weights are never copied; a model must not
// outlive its file.
//
// Files are untrusted: nesting, counts and lengths are bounded, every length is
// checked against the message around it, and errors name the byte and the field
// ("graph.node[3].attribute[0].t").
//
// Test: test/Import/Onnx/ReadModelTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_ONNX_MODEL_H
#define LLMC_IMPORT_ONNX_MODEL_H

#include "llmc/Runtime/Base/Status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::onnx {

/// TensorProto.DataType; a number that is none of these stays as it is.
enum class ElementType : int32_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  text = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  complex64 = 14,
  complex128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
};
/// "f32", "ui8", or "element type 40".
std::string nameOf(ElementType type);
/// Bytes of an element in raw data; 0 where it has no whole number of them.
int64_t bytesOf(ElementType type);

struct Tensor {
  std::string_view name;
  ElementType type = ElementType::undefined;
  std::vector<int64_t> dims;
  /// Elements as they are in memory. Empty where they are in a list below, or
  /// in another file.
  std::string_view raw;
  /// Whether `raw` is one of the lists below.
  bool isRawList = false;
  /// `float_data` and `double_data` are as in memory where a file has them in
  /// one piece; then they stand in `raw`.
  std::vector<double> floats;
  /// Of all integer lists, in which small floats stand as bits.
  std::vector<int64_t> integers;
  size_t numTexts = 0;
  bool isExternal = false, isSegment = false;
  std::map<std::string_view, std::string_view> external;
};

struct Dimension {
  /// Neither: unknown.
  std::optional<int64_t> value;
  std::string_view parameter;
};

struct ValueInfo {
  std::string_view name;
  /// False for sequences, maps and all else that is no tensor; or no type.
  bool isTensor = false, hasType = false;
  ElementType element = ElementType::undefined;
  /// Nothing: the rank is unknown.
  std::optional<std::vector<Dimension>> shape;
};

struct Graph;

struct NodeAttribute {
  std::string_view name;
  /// AttributeProto.AttributeType; 0 in very old files.
  int64_t type = 0;
  std::optional<float> f;
  std::optional<int64_t> i;
  std::optional<std::string_view> s;
  std::shared_ptr<Tensor> tensor;
  std::shared_ptr<Graph> graph;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  bool hasOther = false;
  /// The attribute of the function around it that it stands for, or "".
  std::string_view reference;
};

/// One dimension of a tensor on several devices (IR version 11).
struct ShardedDim {
  int64_t axis = 0;
  /// A dimension may stand for several, major first; each has a size, where it
  /// is a number, and a number of shards.
  struct Part {
    std::optional<int64_t> size;
    int64_t shards = 1;
  };
  std::vector<Part> parts;
};

/// Which device has which part of a tensor: shard i, counted row by row over
/// `dims`, lies on devices[i], which may stand for a group.
struct ShardingSpec {
  std::string_view tensor;
  std::vector<int64_t> devices;
  std::map<int64_t, std::vector<int64_t>> groups;
  std::vector<ShardedDim> dims;
};

struct NodeConfiguration {
  std::string_view configuration;
  std::vector<ShardingSpec> specs;
  std::optional<int64_t> stage;
};

struct DeviceConfiguration {
  std::string_view name;
  int64_t numDevices = 0;
};

struct Node {
  std::string_view name, opType, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<NodeAttribute> attributes;
  std::map<std::string_view, std::string_view> metadata;
  std::vector<NodeConfiguration> configurations;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
  size_t numSparse = 0;
  std::map<std::string_view, std::string_view> metadata;
};

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<NodeAttribute> defaults;
  std::vector<Node> nodes;
  std::map<std::string_view, int64_t> versions;
};

/// A step of training that a file has beside its graph (training_info).
struct TrainingInfo {
  Graph algorithm;
  /// Initializer -> the value that it has before the first step, and that it
  /// gets by each one.
  std::map<std::string_view, std::string_view> initial, updates;
};

struct Model {
  int64_t irVersion = 0;
  std::string_view producer, producerVersion;
  /// Domain ("" for ai.onnx) -> version of its operator set.
  std::map<std::string_view, int64_t> versions;
  /// Once read, with the algorithm of a training step after it.
  Graph graph;
  std::vector<Function> functions;
  std::map<std::string_view, std::string_view> metadata;
  std::vector<DeviceConfiguration> configurations;
  std::vector<TrainingInfo> trainings;
};

/// Reads the bytes of an .onnx file; `file` is named in errors. Error 3.
rt::Result<Model> readModel(std::string_view bytes, const std::string &file);
/// Reads the bytes of one TensorProto, as in the files of test data.
rt::Result<Tensor> readTensor(std::string_view bytes, const std::string &file);

} // namespace llmc::onnx

#endif // LLMC_IMPORT_ONNX_MODEL_H

//===- ReadModel.cpp - The messages of an ONNX file -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function for each message of onnx.proto; the numbers are those of its
// fields.
//
// Test: test/Import/Onnx/ReadModelTest.cpp
//===----------------------------------------------------------------------===//

#include "Wire.h"
#include "llmc/Import/Onnx/Model.h"

using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

namespace {
class ModelReader {
public:
  ModelReader(std::string_view bytes, const std::string &file)
      : bytes(bytes), wire(bytes, file) {}

  rt::Status readModel(Model &model);
  rt::Status readTensorFile(Tensor &tensor) {
    return wire.eachField(
        bytes, [&](const Field &field) { return readField(field, tensor); });
  }

private:
  using Pairs = std::map<std::string_view, std::string_view>;
  rt::Status readPair(const Field &field, const char *what, Pairs &pairs);
  rt::Status readVersion(const Field &field,
                         std::map<std::string_view, int64_t> &versions);
  rt::Status readField(const Field &field, Tensor &tensor);
  rt::Status readElements(const Field &field, Tensor &tensor);
  rt::Status readShape(const Field &field, ValueInfo &value);
  rt::Status readTensorType(const Field &field, ValueInfo &value);
  rt::Status readType(const Field &field, ValueInfo &value);
  rt::Status readValue(const Field &field, const char *what,
                       std::vector<ValueInfo> &values);
  rt::Status readField(const Field &field, NodeAttribute &attribute);
  rt::Status readList(const Field &field, NodeAttribute &attribute);
  rt::Status readAttribute(const Field &field, const char *what,
                           std::vector<NodeAttribute> &attributes);
  rt::Status readNode(const Field &field, std::vector<Node> &nodes);
  rt::Status readGroup(const Field &field, ShardingSpec &spec);
  rt::Status readPart(const Field &field, ShardedDim &dim);
  rt::Status readDim(const Field &field, ShardingSpec &spec);
  rt::Status readSpec(const Field &field, NodeConfiguration &configuration);
  rt::Status readConfiguration(const Field &field,
                               std::vector<NodeConfiguration> &configurations);
  rt::Status
  readConfiguration(const Field &field,
                    std::vector<DeviceConfiguration> &configurations);
  rt::Status readField(const Field &field, Graph &graph);
  rt::Status readFunction(const Field &field, std::vector<Function> &functions);
  rt::Status readTraining(const Field &field,
                          std::vector<TrainingInfo> &trainings);

  std::string_view bytes;
  WireReader wire;
};
} // namespace

/// Of a list's next element.
template <typename T> static int64_t nextIndex(const std::vector<T> &list) {
  return static_cast<int64_t>(list.size());
}

rt::Status ModelReader::readPair(const Field &field, const char *what,
                                 Pairs &pairs) {
  std::string_view key, value;
  LLMC_TRY(wire.eachFieldOf(field, what, -1, [&](const Field &part) {
    if (part.number == 1)
      return wire.read(part, "key", key);
    return part.number == 2 ? wire.read(part, "value", value)
                            : rt::Status::success();
  }));
  pairs[key] = value;
  return rt::Status::success();
}

rt::Status
ModelReader::readVersion(const Field &field,
                         std::map<std::string_view, int64_t> &versions) {
  std::string_view domain;
  int64_t version = 0;
  LLMC_TRY(wire.eachFieldOf(field, "opset_import", -1, [&](const Field &part) {
    if (part.number == 1)
      return wire.read(part, "domain", domain);
    return part.number == 2 ? wire.read(part, "version", version)
                            : rt::Status::success();
  }));
  versions[domain == "ai.onnx" ? std::string_view() : domain] = version;
  return rt::Status::success();
}

rt::Status ModelReader::readElements(const Field &field, Tensor &tensor) {
  switch (field.number) {
  case 4: {
    bool isWhole = field.wire == Wire::bytes && tensor.floats.empty() &&
                   tensor.raw.empty() && field.bytes.size() % 4 == 0;
    std::vector<float> values;
    if (isWhole && tensor.type != ElementType::complex64) {
      tensor.raw = field.bytes;
      tensor.isRawList = true;
      return rt::Status::success();
    }
    LLMC_TRY(wire.append(field, "float_data", values));
    tensor.floats.insert(tensor.floats.end(), values.begin(), values.end());
    return rt::Status::success();
  }
  case 10:
    if (field.wire == Wire::bytes && tensor.floats.empty() &&
        tensor.raw.empty() && field.bytes.size() % 8 == 0) {
      tensor.raw = field.bytes;
      tensor.isRawList = true;
      return rt::Status::success();
    }
    return wire.append(field, "double_data", tensor.floats);
  case 5:
    return wire.append(field, "int32_data", tensor.integers);
  case 7:
    return wire.append(field, "int64_data", tensor.integers);
  case 11:
    return wire.append(field, "uint64_data", tensor.integers);
  case 6:
    ++tensor.numTexts;
    return rt::Status::success();
  default:
    if (tensor.isRawList)
      return wire.refuse("raw_data", field.bytes,
                         "expected elements in one list, got two");
    return wire.read(field, "raw_data", tensor.raw);
  }
}

rt::Status ModelReader::readField(const Field &field, Tensor &tensor) {
  int64_t number = 0;
  switch (field.number) {
  case 1:
    return wire.append(field, "dims", tensor.dims);
  case 2:
    LLMC_TRY(wire.read(field, "data_type", number));
    tensor.type = static_cast<ElementType>(number);
    return rt::Status::success();
  case 3:
    tensor.isSegment = true;
    return rt::Status::success();
  case 8:
    return wire.read(field, "name", tensor.name);
  case 13:
    return readPair(field, "external_data", tensor.external);
  case 14:
    LLMC_TRY(wire.read(field, "data_location", number));
    tensor.isExternal = number == 1;
    return rt::Status::success();
  case 4:
  case 5:
  case 6:
  case 7:
  case 9:
  case 10:
  case 11:
    return readElements(field, tensor);
  default:
    return rt::Status::success();
  }
}

rt::Status ModelReader::readShape(const Field &field, ValueInfo &value) {
  if (!value.shape)
    value.shape.emplace();
  return wire.eachFieldOf(field, "shape", -1, [&](const Field &part) {
    if (part.number != 1)
      return rt::Status::success();
    Dimension &dim = value.shape->emplace_back();
    return wire.eachFieldOf(
        part, "dim", nextIndex(*value.shape) - 1, [&](const Field &inner) {
          int64_t number = 0;
          if (inner.number == 1) {
            LLMC_TRY(wire.read(inner, "dim_value", number));
            dim.value = number;
          }
          return inner.number == 2
                     ? wire.read(inner, "dim_param", dim.parameter)
                     : rt::Status::success();
        });
  });
}

rt::Status ModelReader::readTensorType(const Field &field, ValueInfo &value) {
  value.isTensor = true;
  return wire.eachFieldOf(field, "tensor_type", -1, [&](const Field &part) {
    int64_t number = 0;
    if (part.number == 1) {
      LLMC_TRY(wire.read(part, "elem_type", number));
      value.element = static_cast<ElementType>(number);
    }
    return part.number == 2 ? readShape(part, value) : rt::Status::success();
  });
}

rt::Status ModelReader::readType(const Field &field, ValueInfo &value) {
  value.hasType = true;
  return wire.eachFieldOf(field, "type", -1, [&](const Field &part) {
    return part.number == 1 ? readTensorType(part, value)
                            : rt::Status::success();
  });
}

rt::Status ModelReader::readValue(const Field &field, const char *what,
                                  std::vector<ValueInfo> &values) {
  int64_t index = nextIndex(values);
  ValueInfo &value = values.emplace_back();
  return wire.eachFieldOf(field, what, index, [&](const Field &part) {
    if (part.number == 1)
      return wire.read(part, "name", value.name);
    return part.number == 2 ? readType(part, value) : rt::Status::success();
  });
}

rt::Status ModelReader::readList(const Field &field, NodeAttribute &attribute) {
  switch (field.number) {
  case 7:
    return wire.append(field, "floats", attribute.floats);
  case 8:
    return wire.append(field, "ints", attribute.ints);
  case 9:
    return wire.read(field, "strings", attribute.strings.emplace_back());
  default:
    attribute.hasOther = true;
    return rt::Status::success();
  }
}

rt::Status ModelReader::readField(const Field &field,
                                  NodeAttribute &attribute) {
  switch (field.number) {
  case 1:
    return wire.read(field, "name", attribute.name);
  case 2:
    return wire.read(field, "f", attribute.f.emplace());
  case 3:
    return wire.read(field, "i", attribute.i.emplace());
  case 4:
    return wire.read(field, "s", attribute.s.emplace());
  case 5:
    if (!attribute.tensor)
      attribute.tensor = std::make_shared<Tensor>();
    return wire.eachFieldOf(field, "t", -1, [&](const Field &part) {
      return readField(part, *attribute.tensor);
    });
  case 6:
    if (!attribute.graph)
      attribute.graph = std::make_shared<Graph>();
    return wire.eachFieldOf(field, "g", -1, [&](const Field &part) {
      return readField(part, *attribute.graph);
    });
  case 20:
    return wire.read(field, "type", attribute.type);
  case 21:
    return wire.read(field, "ref_attr_name", attribute.reference);
  case 13:
    return rt::Status::success();
  default:
    return readList(field, attribute);
  }
}

rt::Status ModelReader::readAttribute(const Field &field, const char *what,
                                      std::vector<NodeAttribute> &attributes) {
  int64_t index = nextIndex(attributes);
  NodeAttribute &attribute = attributes.emplace_back();
  return wire.eachFieldOf(field, what, index, [&](const Field &part) {
    return readField(part, attribute);
  });
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

rt::Status ModelReader::readGroup(const Field &field, ShardingSpec &spec) {
  int64_t key = 0;
  std::vector<int64_t> devices;
  LLMC_TRY(wire.eachFieldOf(
      field, "index_to_device_group_map", -1, [&](const Field &part) {
        if (part.number == 1)
          return wire.read(part, "key", key);
        return part.number == 2 ? wire.append(part, "value", devices)
                                : rt::Status::success();
      }));
  spec.groups[key] = std::move(devices);
  return rt::Status::success();
}

rt::Status ModelReader::readPart(const Field &field, ShardedDim &dim) {
  ShardedDim::Part &made = dim.parts.emplace_back();
  return wire.eachFieldOf(field, "simple_sharding", -1, [&](const Field &part) {
    if (part.number == 1)
      return wire.read(part, "dim_value", made.size.emplace());
    return part.number == 3 ? wire.read(part, "num_shards", made.shards)
                            : rt::Status::success();
  });
}

rt::Status ModelReader::readDim(const Field &field, ShardingSpec &spec) {
  int64_t index = nextIndex(spec.dims);
  ShardedDim &dim = spec.dims.emplace_back();
  return wire.eachFieldOf(field, "sharded_dim", index, [&](const Field &part) {
    if (part.number == 1)
      return wire.read(part, "axis", dim.axis);
    return part.number == 2 ? readPart(part, dim) : rt::Status::success();
  });
}

rt::Status ModelReader::readSpec(const Field &field,
                                 NodeConfiguration &configuration) {
  int64_t index = nextIndex(configuration.specs);
  ShardingSpec &spec = configuration.specs.emplace_back();
  return wire.eachFieldOf(
      field, "sharding_spec", index, [&](const Field &part) {
        switch (part.number) {
        case 1:
          return wire.read(part, "tensor_name", spec.tensor);
        case 2:
          return wire.append(part, "device", spec.devices);
        case 3:
          return readGroup(part, spec);
        case 4:
          return readDim(part, spec);
        default:
          return rt::Status::success();
        }
      });
}

rt::Status
ModelReader::readConfiguration(const Field &field,
                               std::vector<NodeConfiguration> &configurations) {
  int64_t index = nextIndex(configurations);
  NodeConfiguration &made = configurations.emplace_back();
  return wire.eachFieldOf(
      field, "device_configurations", index, [&](const Field &part) {
        switch (part.number) {
        case 1:
          return wire.read(part, "configuration_id", made.configuration);
        case 2:
          return readSpec(part, made);
        case 3:
          return wire.read(part, "pipeline_stage", made.stage.emplace());
        default:
          return rt::Status::success();
        }
      });
}

rt::Status ModelReader::readConfiguration(
    const Field &field, std::vector<DeviceConfiguration> &configurations) {
  int64_t index = nextIndex(configurations);
  DeviceConfiguration &made = configurations.emplace_back();
  return wire.eachFieldOf(
      field, "configuration", index, [&](const Field &part) {
        if (part.number == 1)
          return wire.read(part, "name", made.name);
        return part.number == 2
                   ? wire.read(part, "num_devices", made.numDevices)
                   : rt::Status::success();
      });
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

rt::Status ModelReader::readNode(const Field &field, std::vector<Node> &nodes) {
  int64_t index = nextIndex(nodes);
  Node &node = nodes.emplace_back();
  return wire.eachFieldOf(field, "node", index, [&](const Field &part) {
    switch (part.number) {
    case 1:
      return wire.read(part, "input", node.inputs.emplace_back());
    case 2:
      return wire.read(part, "output", node.outputs.emplace_back());
    case 3:
      return wire.read(part, "name", node.name);
    case 4:
      return wire.read(part, "op_type", node.opType);
    case 5:
      return readAttribute(part, "attribute", node.attributes);
    case 7:
      return wire.read(part, "domain", node.domain);
    case 8:
      return wire.read(part, "overload", node.overload);
    case 9:
      return readPair(part, "metadata_props", node.metadata);
    case 10:
      return readConfiguration(part, node.configurations);
    default:
      return rt::Status::success();
    }
  });
}

rt::Status ModelReader::readField(const Field &field, Graph &graph) {
  switch (field.number) {
  case 1:
    return readNode(field, graph.nodes);
  case 2:
    return wire.read(field, "name", graph.name);
  case 5: {
    int64_t index = nextIndex(graph.initializers);
    Tensor &tensor = graph.initializers.emplace_back();
    return wire.eachFieldOf(
        field, "initializer", index,
        [&](const Field &part) { return readField(part, tensor); });
  }
  case 11:
    return readValue(field, "input", graph.inputs);
  case 12:
    return readValue(field, "output", graph.outputs);
  case 13:
    return readValue(field, "value_info", graph.values);
  case 15:
    ++graph.numSparse;
    return rt::Status::success();
  case 16:
    return readPair(field, "metadata_props", graph.metadata);
  default:
    return rt::Status::success();
  }
}

rt::Status ModelReader::readFunction(const Field &field,
                                     std::vector<Function> &functions) {
  int64_t index = nextIndex(functions);
  Function &function = functions.emplace_back();
  return wire.eachFieldOf(field, "functions", index, [&](const Field &part) {
    switch (part.number) {
    case 1:
      return wire.read(part, "name", function.name);
    case 4:
      return wire.read(part, "input", function.inputs.emplace_back());
    case 5:
      return wire.read(part, "output", function.outputs.emplace_back());
    case 6:
      return wire.read(part, "attribute", function.attributes.emplace_back());
    case 7:
      return readNode(part, function.nodes);
    case 9:
      return readVersion(part, function.versions);
    case 10:
      return wire.read(part, "domain", function.domain);
    case 11:
      return readAttribute(part, "attribute_proto", function.defaults);
    case 13:
      return wire.read(part, "overload", function.overload);
    default:
      return rt::Status::success();
    }
  });
}

rt::Status ModelReader::readTraining(const Field &field,
                                     std::vector<TrainingInfo> &trainings) {
  int64_t index = nextIndex(trainings);
  TrainingInfo &training = trainings.emplace_back();
  return wire.eachFieldOf(
      field, "training_info", index, [&](const Field &part) {
        switch (part.number) {
        case 2:
          return wire.eachFieldOf(part, "algorithm", -1,
                                  [&](const Field &inner) {
                                    return readField(inner, training.algorithm);
                                  });
        case 3:
          return readPair(part, "initialization_binding", training.initial);
        case 4:
          return readPair(part, "update_binding", training.updates);
        default:
          return rt::Status::success();
        }
      });
}

/// What is run is both graphs, one after the other (onnx.proto, algorithm).
static void append(Graph &graph, Graph &algorithm) {
  auto move = [](auto &list, auto &more) {
    list.insert(list.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
    more.clear();
  };
  move(graph.nodes, algorithm.nodes);
  move(graph.initializers, algorithm.initializers);
  move(graph.inputs, algorithm.inputs);
  move(graph.outputs, algorithm.outputs);
  move(graph.values, algorithm.values);
  graph.numSparse += algorithm.numSparse;
}

rt::Status ModelReader::readModel(Model &model) {
  bool hasGraph = false;
  LLMC_TRY(wire.eachField(bytes, [&](const Field &field) {
    switch (field.number) {
    case 1:
      return wire.read(field, "ir_version", model.irVersion);
    case 2:
      return wire.read(field, "producer_name", model.producer);
    case 3:
      return wire.read(field, "producer_version", model.producerVersion);
    case 7:
      hasGraph = true;
      return wire.eachFieldOf(field, "graph", -1, [&](const Field &part) {
        return readField(part, model.graph);
      });
    case 8:
      return readVersion(field, model.versions);
    case 14:
      return readPair(field, "metadata_props", model.metadata);
    case 20:
      return readTraining(field, model.trainings);
    case 25:
      return readFunction(field, model.functions);
    case 26:
      return readConfiguration(field, model.configurations);
    default:
      return rt::Status::success();
    }
  }));
  if (!hasGraph)
    return wire.refuse("graph", bytes,
                       "expected a model with a graph, got none");
  if (model.trainings.size() == 1)
    append(model.graph, model.trainings.front().algorithm);
  return rt::Status::success();
}

rt::Result<Model> onnx::readModel(std::string_view bytes,
                                  const std::string &file) {
  Model model;
  LLMC_TRY(ModelReader(bytes, file).readModel(model));
  return model;
}

rt::Result<Tensor> onnx::readTensor(std::string_view bytes,
                                    const std::string &file) {
  Tensor tensor;
  LLMC_TRY(ModelReader(bytes, file).readTensorFile(tensor));
  return tensor;
}

namespace {
struct TypeRow {
  ElementType type;
  const char *name;
  int64_t bytes;
};
} // namespace

static constexpr TypeRow kTypes[] = {
    {ElementType::f32, "f32", 4},
    {ElementType::u8, "ui8", 1},
    {ElementType::i8, "i8", 1},
    {ElementType::u16, "ui16", 2},
    {ElementType::i16, "i16", 2},
    {ElementType::i32, "i32", 4},
    {ElementType::i64, "i64", 8},
    {ElementType::text, "text", 0},
    {ElementType::boolean, "i1", 1},
    {ElementType::f16, "f16", 2},
    {ElementType::f64, "f64", 8},
    {ElementType::u32, "ui32", 4},
    {ElementType::u64, "ui64", 8},
    {ElementType::complex64, "complex<f32>", 8},
    {ElementType::complex128, "complex<f64>", 16},
    {ElementType::bf16, "bf16", 2},
    {ElementType::f8e4m3fn, "f8E4M3FN", 1},
    {ElementType::f8e4m3fnuz, "f8E4M3FNUZ", 1},
    {ElementType::f8e5m2, "f8E5M2", 1},
    {ElementType::f8e5m2fnuz, "f8E5M2FNUZ", 1},
    {ElementType::u4, "ui4", 0},
    {ElementType::i4, "i4", 0},
};

std::string onnx::nameOf(ElementType type) {
  for (const TypeRow &row : kTypes)
    if (row.type == type)
      return row.name;
  return "element type " + std::to_string(static_cast<int32_t>(type));
}

int64_t onnx::bytesOf(ElementType type) {
  for (const TypeRow &row : kTypes)
    if (row.type == type)
      return row.bytes;
  return 0;
}

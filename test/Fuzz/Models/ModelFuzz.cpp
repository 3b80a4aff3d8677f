//===- ModelFuzz.cpp - Mutated model texts, interpreted and compiled ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-model-fuzz <corpus> <configuration> [<model> <configuration>]...
//       [--count n] [--seed s]
//
// Broken copies of model texts: of the files given, of random graphs as JAX
// would print them, and of random programs as they leave import. Each is
// scanned for its ops, read and interpreted, and compiled to a plan, by the
// driver's own functions; what is refused must be refused by an error.
//
// Tests: test/Fuzz/models.test
//===----------------------------------------------------------------------===//

#include "ForkDriver.h"
#include "ModelText.h"
#include "RandomPrograms.h"
#include "TextMutator.h"
#include "llmc/Driver/Compile.h"
#include "llmc/Import/Text/ScanOps.h"
#include "llmc/Run.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

using namespace llmc;
using namespace llmc::test;

namespace {
struct Model {
  std::string text, config;
  /// The phase that it has passed.
  std::string compileFrom;
};

std::string readWhole(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ModelSubject : public FuzzSubject {
public:
  ModelSubject(const std::string &corpus, const std::string &config,
               const std::vector<std::string> &files)
      : corpus(corpus), config(config) {
    for (size_t i = 0; i + 1 < files.size(); i += 2)
      models.push_back({readWhole(files[i]), files[i + 1], ""});
  }

  std::string name() const override { return "models"; }
  bool isText() const override { return true; }
  std::string make(uint64_t seed, int64_t index) const override {
    uint64_t number = (seed << 32) + static_cast<uint64_t>(index);
    return mutateText(choose(seed, index).text, number);
  }
  int run(const std::string &input, int64_t index,
          const std::string &folder) const override;

private:
  Model choose(uint64_t seed, int64_t index) const;

  std::string corpus, config;
  std::vector<Model> models;
};
} // namespace

/// The types after `->` in the first line of a function's text.
static std::vector<std::string> readResults(const std::string &text) {
  size_t begin = text.find("-> (") + 4, end = text.find(") {", begin);
  std::vector<std::string> types;
  std::istringstream list(text.substr(begin, end - begin));
  for (std::string type; std::getline(list, type, ',');)
    types.push_back(type.substr(type.find_first_not_of(' ')));
  return types;
}

/// A random graph in a loss: the sum of all its results, as JAX names things.
static std::string makeJaxText(uint64_t seed) {
  ProgramOptions options;
  options.seed = seed;
  options.smooth = seed % 3 != 0;
  options.element = seed % 2 ? "f64" : "f32";
  options.numRecipes = 1 + static_cast<int>(seed % 7);
  options.firstRecipe = static_cast<int>(seed % getNumRecipes(options));
  std::string graph = makeProgram(options), e = options.element;
  std::vector<std::string> types = readResults(graph);
  std::string shapes[] = {"tensor<4x6x" + e + ">", "tensor<2x4x6x" + e + ">",
                          "tensor<6x" + e + ">"};
  std::string body, arguments, all, values, last = "%zero";
  for (int i = 0; i < 3; ++i) {
    std::string value = "%p" + std::to_string(i), comma = i ? ", " : "";
    arguments += comma + value + ": " + shapes[i] + " loc(\"params['" +
                 "abc"[i] + "']\")";
    all += comma + shapes[i];
    values += comma + value;
  }
  std::string results;
  for (size_t i = 0; i < types.size(); ++i) {
    results += (i ? ", " : "") + types[i];
    std::string number = std::to_string(i), dims, scalar = "tensor<" + e + ">";
    for (int64_t d = 0; d < std::count(types[i].begin(), types[i].end(), 'x');
         ++d)
      dims += (d ? ", " : "") + std::to_string(d);
    std::string result = types.size() > 1 ? "%r#" + number : "%r";
    body += "    %s" + number + " = stablehlo.reduce(" + result +
            " init: %zero) applies stablehlo.add across dimensions = [" + dims +
            "] : (" + types[i] + ", " + scalar + ") -> " + scalar + "\n    %t" +
            number + " = stablehlo.add " + last + ", %s" + number + " : " +
            scalar + "\n";
    last = "%t" + number;
  }
  return "module @jit_f {\n  func.func public @main(" + arguments +
         ") -> (tensor<" + e +
         "> {jax.result_info = \"result\"}) {\n    %zero" +
         " = stablehlo.constant dense<0.0> : tensor<" + e + ">\n    %r" +
         (types.size() > 1 ? ":" + std::to_string(types.size()) : "") +
         " = call @f(" + values + ") : (" + all + ") -> (" + results + ")\n" +
         body + "    return " + last + " : tensor<" + e + ">\n  }\n  " +
         graph.replace(graph.find("func.func"), 9, "func.func private") + "}\n";
}

Model ModelSubject::choose(uint64_t seed, int64_t index) const {
  uint64_t number = seed * 1000003 + static_cast<uint64_t>(index);
  // The files are larger than what is drawn.
  if (!models.empty() && index % 3 == 0)
    return models[static_cast<size_t>(index / 3) % models.size()];
  if (index % 3 == 1)
    return {makeJaxText(number), config, ""};
  ModelOptions options;
  options.seed = number;
  options.exact = index % 2 == 0;
  // Its inputs come from the corpus.
  std::string text = makeModel(options), port = "#dist.port<input \"";
  for (size_t i = 0; (i = text.find(port, i)) != std::string::npos;) {
    i = text.find('"', i + port.size()) + 1;
    text.insert(i, ", data = <\"data\">");
  }
  return {text, config, "import"};
}

int ModelSubject::run(const std::string &input, int64_t index,
                      const std::string &folder) const {
  static const std::vector<std::pair<std::string, int64_t>> meshes[] = {
      {}, {{"data", 2}}, {}, {{"tensor", 2}}, {}, {{"pipe", 2}}};
  Model model = choose(0, index);
  driver::Options options;
  options.input = folder + "/model.mlir";
  std::ofstream(options.input, std::ios::binary) << input;
  options.config = model.config;
  options.compileFrom = model.compileFrom;
  options.data = {corpus};
  options.dataType = "u8";
  options.steps = 1;
  options.threads = 1;
  // What takes more is refused in place of being tried.
  options.overrides = {{"machine.memory", "5e8"}};
  rt::Status status = driver::runInterpret(options);
  if (!status.ok() && rt::reportError("interpret", status, "") ==
                          exitCode(rt::ErrorKind::internal))
    return exitCode(rt::ErrorKind::internal);
  if (model.compileFrom.empty())
    options.mesh = meshes[static_cast<size_t>(index / 6) % std::size(meshes)];
  auto read = driver::readConfig(options);
  auto context = driver::makeContext();
  import::scanOps(*context, input);
  status = read.ok() ? driver::compileToPlan(*context, options, *read,
                                             folder + "/plan")
                           .status()
                     : read.status();
  return status.ok() ? 0 : rt::reportError("compile", status, "");
}

int main(int argc, char **argv) {
  FuzzOptions options = readFuzzOptions(argc, argv);
  if (options.rest.size() < 2 || options.rest.size() % 2) {
    llvm::errs() << "usage: " << argv[0]
                 << " <corpus> <configuration of what is drawn> [<model> "
                    "<configuration>]... [--count n] [--seed s] [--jobs j] "
                    "[--folder f]\n";
    return 2;
  }
  ModelSubject subject(options.rest[0], options.rest[1],
                       {options.rest.begin() + 2, options.rest.end()});
  return fuzz(subject, options);
}

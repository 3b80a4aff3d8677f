//===- ToolTest.cpp - llmc-run on the walkthrough's plan ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tool as users call it: output, logs, dumps, exit codes, last lines.
//
//===----------------------------------------------------------------------===//

#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Comm/Backend.h"
#include "llmc/Runtime/Executor/HostTensor.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>

namespace llmc::rt::test {
namespace {

struct Outcome {
  int code = 0;
  std::string out, err;

  std::string lastErrorLine() const {
    std::string text = err.substr(0, err.find_last_not_of('\n') + 1);
    return text.substr(text.rfind('\n') + 1);
  }
};

class ToolTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "/llmc-run." +
             testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::string name =
        walkthroughObject.substr(walkthroughObject.rfind('/') + 1);
    std::filesystem::copy_file(walkthroughObject, folder + "/" + name);
    std::filesystem::permissions(folder + "/" + name,
                                 std::filesystem::perms(0755));
    object = folder + "/" + name;
    planFile = folder + "/walkthrough.plan";
    ASSERT_TRUE(plan::writePlan(makeWalkthroughPlan(2, object), planFile).ok());
  }

  Outcome call(const std::string &arguments) {
    std::string out = folder + "/out", err = folder + "/err";
    int status = std::system(
        fmt::format("{} {} >{} 2>{}", LLMC_RUN_TOOL, arguments, out, err)
            .c_str());
    return {WEXITSTATUS(status), *readFile(out), *readFile(err)};
  }
  std::string data() { return " --data " + walkthroughCorpus(); }

  std::string folder, object, planFile;
};

TEST_F(ToolTest, PrintsStepLines) {
  Outcome run =
      call(planFile + data() + " --steps 3 --log " + folder + "/run.jsonl");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("memory of stage 1: "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("step: 0  loss: "), std::string::npos) << run.out;
  for (const char *part :
       {"step: 2  loss: ", "  grad_norm: ", "  lr: ", "  memory: ", "  tps: ",
        "  data: ", "  eta: ", "memory: predicted "}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part;
  }
  std::string log = *readFile(folder + "/run.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3);
  EXPECT_EQ(log.find("{\"entry\": \"train\", \"step\": 0, \"loss\": "), 0u)
      << log;
}

// The losses do not depend on workers or order, to the last digit.
TEST_F(ToolTest, SameCommandSameBits) {
  std::string losses[4];
  const char *flags[] = {"", " --threads 3", " --threads 1 --shuffle 5",
                         " --one-by-one"};
  for (int i = 0; i < 4; ++i) {
    Outcome run =
        call(planFile + data() + " --steps 4 --fetch E,loss" + flags[i]);
    ASSERT_EQ(run.code, 0) << run.err;
    losses[i] = run.out.substr(run.out.find("\nE: "),
                               run.out.find("\nmemory: predicted") -
                                   run.out.find("\nE: "));
  }
  EXPECT_NE(losses[0].find("E: f32[10, 4] = [["), std::string::npos);
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[0], losses[2]);
  EXPECT_EQ(losses[0], losses[3]);
}

// A source by name and all of them at once are the same here; each flag takes
// one file, so that the plan may follow it. The last one for a source counts.
TEST_F(ToolTest, SourcesByName) {
  std::string named = " --data corpus=" + walkthroughCorpus() + " ";
  std::string zeros = folder + "/zeros.bin";
  std::ofstream(zeros) << std::string(400, '\0');
  std::string lines[3], flags[] = {data(), named, " --data " + zeros + named};
  for (int i : {0, 1, 2}) {
    Outcome run = call(flags[i] + " " + planFile +
                       " --data-type u8 --steps 1 --fetch loss");
    ASSERT_EQ(run.code, 0) << run.err;
    lines[i] = run.out.substr(run.out.find("\nloss: "), 30);
  }
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_EQ(lines[0], lines[2]);
  Outcome other = call(planFile + " --data rows=" + walkthroughCorpus());
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("no source of data is named 'rows': expected one of "
                           "corpus"),
            std::string::npos)
      << other.err;
}

TEST_F(ToolTest, DumpsValues) {
  Outcome run =
      call(planFile + data() + " --steps 1 --fetch tokens,W1 --dump " + folder);
  ASSERT_EQ(run.code, 0) << run.err;
  Result<HostTensor> tokens = readNpy(folder + "/tokens.1.npy");
  ASSERT_TRUE(tokens.ok()) << tokens.message();
  EXPECT_EQ(tokens->shape, std::vector<int64_t>{batch});
  EXPECT_EQ(readNpy(folder + "/W1.npy")->shape, (std::vector<int64_t>{4, 12}));
}

TEST_F(ToolTest, Inspects) {
  Outcome text = call(planFile + " --inspect");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("train.c0.F"), std::string::npos);
  Outcome json = call(planFile + " --inspect --json");
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.out.find("{"), 0u);
}

// The step that runs ends, what was asked for is written, and the code says by
// which signal.
TEST_F(ToolTest, TerminationEndsAfterTheStep) {
  for (auto [signal, number] :
       {std::pair<const char *, int>{"TERM", SIGTERM}, {"INT", SIGINT}}) {
    std::string log = folder + "/log." + signal, script = folder + "/run.sh";
    std::ofstream(script) << fmt::format(
        "{} {} --steps 1000000000 --log {} --fetch loss >{}/out "
        "2>{}/err &\nwhile ! test -s {}; do sleep 0.02; done\n"
        "kill -{} $!\nwait $!\n",
        LLMC_RUN_TOOL, planFile + data(), log, folder, folder, log, signal);
    int status = std::system(("timeout 60 bash " + script).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 128 + number) << *readFile(folder + "/err");
    std::string out = *readFile(folder + "/out");
    EXPECT_NE(out.find("\nloss: f64[] = "), std::string::npos);
    EXPECT_NE(out.find("\nmemory: predicted "), std::string::npos);
    EXPECT_EQ(readFile(log)->back(), '\n');
  }
}

// A factor of infinity on the learning rate makes the loss not a number.
TEST_F(ToolTest, GoesOnWhenAskedTo) {
  plan::Plan plan = makeWalkthroughPlan(2, object);
  for (plan::Hyper &hyper : plan.entries[0].hypers) {
    if (hyper.name == "lr") {
      hyper.rule = {HyperKind::constant, INFINITY, 0, 0, 0};
    }
  }
  ASSERT_TRUE(plan::writePlan(plan, planFile).ok());
  Outcome stopped = call(planFile + data() + " --steps 4");
  EXPECT_EQ(stopped.code, 13) << stopped.err;
  EXPECT_NE(stopped.lastErrorLine().find("error[numeric]: expected a finite "
                                         "loss, got "),
            std::string::npos);
  EXPECT_EQ(stopped.out.find("step: 3"), std::string::npos);
  Outcome all = call(planFile + data() + " --steps 4 --keep-going");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_NE(all.out.find("step: 3"), std::string::npos);
}

TEST_F(ToolTest, GivesInputsToEveryMicrobatch) {
  HostTensor tokens = HostTensor::zeros(DType::i32, {batch});
  ASSERT_TRUE(writeNpy(tokens, folder + "/zeros.npy").ok());
  Outcome run = call(planFile + data() +
                     " --fetch tokens --input tokens=" + folder + "/zeros.npy");
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char *line : {"\ntokens.0: i32[", "\ntokens.1: i32["}) {
    size_t at = run.out.find(line);
    ASSERT_NE(at, std::string::npos) << run.out;
    std::string values = run.out.substr(run.out.find(" = ", at), 12);
    EXPECT_EQ(values, " = [0, 0, 0,");
  }
}

// Each cause has its code and one last line.
TEST_F(ToolTest, ErrorsHaveTheirCodes) {
  struct Case {
    std::string arguments;
    int code;
    std::string line;
  };
  std::string missing = folder + "/missing.plan";
  std::ofstream(folder + "/empty.bin");
  std::ofstream(folder + "/bad.plan") << "no plan";
  for (const Case &each : std::vector<Case>{
           {"--no-such-flag", 2, "llmc-run: error[usage]: "},
           {missing, 3, "llmc-run: error[malformed]: "},
           {folder + "/bad.plan", 3, "llmc-run: error[malformed]: "},
           {planFile, 2, "error[usage]: expected data for input 'tokens'"},
           {planFile + " --data " + folder + "/empty.bin", 3,
            "error[malformed]: "},
           {planFile + data() + " --entry evaluate", 2,
            "the plan has no entry 'evaluate', only train"},
           {planFile + data() + " --set lr=3", 2, "no external value 'lr'"},
           {planFile + data() + " --set lr", 2,
            "expected name=value after --set, got 'lr'"},
           {planFile + data() + " --set =3", 2,
            "expected name=value after --set, got '=3'"},
           {planFile + data() + " --set lr=", 2,
            "expected a number after --set lr=, got ''"},
           {planFile + data() + " --set lr=3x", 2,
            "expected a number after --set lr=, got '3x'"},
           {planFile + data() + " --input tokens", 2,
            "expected name=value after --input, got 'tokens'"},
           {planFile + data() + " --input tokens=" + folder + "/bad.plan", 3,
            "expected an .npy file"},
           {planFile + data() + " --steps -1", 2, "error[usage]: "},
           {planFile + data() + " --deadline 0", 2, "error[usage]: "},
           {planFile + data() + " --fetch nothing", 2, "got 'nothing'"}}) {
    Outcome run = call(each.arguments + " --error-file " + folder + "/error");
    EXPECT_EQ(run.code, each.code) << each.arguments << run.err;
    EXPECT_NE(run.lastErrorLine().find(each.line), std::string::npos)
        << run.err;
  }
  EXPECT_NE(readFile(folder + "/error")->find("\"code\": 2"),
            std::string::npos);
}

// The tool knows the backends that are linked into it, and no other.
TEST_F(ToolTest, PlansOfOtherTargetsAreRefused) {
  plan::Plan plan = makeWalkthroughPlan(2, object);
  plan.target = "elsewhere";
  ASSERT_TRUE(plan::writePlan(plan, planFile).ok());
  Outcome run = call(planFile + data());
  EXPECT_EQ(run.code, 15);
  std::string targets = findBackend("cuda").ok() ? "cpu, cuda" : "cpu";
  EXPECT_EQ(run.lastErrorLine(),
            "llmc-run: error[mismatch]: expected a plan for a target of this "
            "build (" +
                targets + "), got 'elsewhere'");
}

// Kernel code is loaded only when it is what the plan names, and the user's.
TEST_F(ToolTest, KernelsAreTrustedOnlyWhenOwn) {
  std::filesystem::permissions(object, std::filesystem::perms(0777));
  Outcome open = call(planFile + data());
  EXPECT_EQ(open.code, 15) << open.err;
  EXPECT_NE(open.lastErrorLine().find("--trust-kernels"), std::string::npos);
  EXPECT_EQ(call(planFile + data() + " --trust-kernels").code, 0);
  // Who else may write is asked for the group and for all others.
  for (auto [mode, code] :
       {std::pair<unsigned, int>{0775, 15}, {0757, 15}, {0755, 0}, {0700, 0}}) {
    std::filesystem::permissions(object, std::filesystem::perms(mode));
    EXPECT_EQ(call(planFile + data()).code, code) << fmt::format("{:o}", mode);
  }
  std::filesystem::permissions(object, std::filesystem::perms(0755));
  std::ofstream(object, std::ios::app) << "x";
  Outcome changed = call(planFile + data());
  EXPECT_EQ(changed.code, 15);
  EXPECT_NE(changed.lastErrorLine().find("hash"), std::string::npos);
  std::filesystem::remove(object);
  EXPECT_EQ(call(planFile + data()).code, 15);
}

} // namespace
} // namespace llmc::rt::test

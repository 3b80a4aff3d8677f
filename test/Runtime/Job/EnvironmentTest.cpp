//===- EnvironmentTest.cpp - What a launcher says of a process ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Environment.h"

#include <gtest/gtest.h>

#include <map>

namespace llmc::rt::test {

static Result<std::optional<JobPlace>>
find(const std::map<std::string, std::string> &variables) {
  return findJob([&](const std::string &name) -> std::optional<std::string> {
    auto at = variables.find(name);
    return at == variables.end() ? std::nullopt
                                 : std::optional<std::string>(at->second);
  });
}

TEST(Environment, NoLauncherIsOneProcess) {
  EXPECT_FALSE((*find({})).has_value());
  EXPECT_FALSE((*find({{"RANK", "0"}, {"WORLD_SIZE", "1"}})).has_value());
}

TEST(Environment, EachLauncher) {
  for (auto [process, size] : {std::pair("LLMC_RANK", "LLMC_WORLD_SIZE"),
                               {"RANK", "WORLD_SIZE"},
                               {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               {"SLURM_PROCID", "SLURM_NTASKS"}}) {
    auto job = *find({{process, "2"}, {size, "4"}, {"LLMC_TOKEN", "t"}});
    ASSERT_TRUE(job) << process;
    EXPECT_EQ(job->process, 2);
    EXPECT_EQ(job->size, 4);
    EXPECT_EQ(job->host, "127.0.0.1");
    EXPECT_EQ(job->port, 29400);
    EXPECT_EQ(job->token, "t");
  }
}

TEST(Environment, TorchrunKeepsItsOwnPort) {
  std::map<std::string, std::string> variables = {{"RANK", "1"},
                                                  {"WORLD_SIZE", "2"},
                                                  {"MASTER_ADDR", "node1"},
                                                  {"MASTER_PORT", "5000"}};
  EXPECT_EQ((*find(variables))->host, "node1");
  EXPECT_EQ((*find(variables))->port, 5000);
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ((*find(variables))->port, 5001);
}

TEST(Environment, FirstHostOfSlurmsLists) {
  EXPECT_EQ(firstHost("node1"), "node1");
  EXPECT_EQ(firstHost("node1,node2"), "node1");
  EXPECT_EQ(firstHost("n[003-005,9],gpu1"), "n003");
  EXPECT_EQ(firstHost("n[7]"), "n7");
  EXPECT_EQ(firstHost("rack[2,4]-n1,x"), "rack2-n1");
}

TEST(Environment, SlurmSaysWhereProcess0Runs) {
  std::map<std::string, std::string> variables = {
      {"SLURM_PROCID", "1"},
      {"SLURM_NTASKS", "4"},
      {"SLURM_STEP_NODELIST", "n[003-005]"},
      {"SLURM_JOB_ID", "4210007"}};
  EXPECT_EQ((*find(variables))->host, "n003");
  EXPECT_EQ((*find(variables))->port, 29407);
  variables["MASTER_ADDR"] = "10.0.0.9";
  EXPECT_EQ((*find(variables))->host, "10.0.0.9");
}

TEST(Environment, WhatIsNoNumber) {
  for (auto [process, size] : {std::pair("4", "4"),
                               {"-1", "4"},
                               {"x", "4"},
                               {"1", "0"},
                               {"1", "4x"},
                               {"", "4"}}) {
    auto job = find({{"RANK", process}, {"WORLD_SIZE", size}});
    EXPECT_EQ(job.kind(), ErrorKind::usage) << process << " " << size;
  }
  EXPECT_EQ(find({{"RANK", "1"}}).message(),
            "expected the variables RANK and WORLD_SIZE, got RANK alone");
}

TEST(Environment, ContradictionsNameBoth) {
  auto job = find({{"RANK", "1"},
                   {"WORLD_SIZE", "4"},
                   {"SLURM_PROCID", "0"},
                   {"SLURM_NTASKS", "2"}});
  EXPECT_EQ(job.message(),
            "expected one launcher, got process 1 of 4 by RANK and WORLD_SIZE, "
            "and process 0 of 2 by SLURM_PROCID and SLURM_NTASKS");
  EXPECT_TRUE(find({{"RANK", "1"},
                    {"WORLD_SIZE", "2"},
                    {"SLURM_PROCID", "1"},
                    {"SLURM_NTASKS", "2"}})
                  .ok());
}

} // namespace llmc::rt::test

//===- Environment.h - What a launcher says of a process ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launchers number the processes that they start by variables of the
// environment. Those of llmc's own launcher come first, then torchrun's, Open
// MPI's and Slurm's:
//
//   process                size                   address, port
//   LLMC_RANK              LLMC_WORLD_SIZE        LLMC_ADDRESS, LLMC_PORT
//   RANK                   WORLD_SIZE             MASTER_ADDR, MASTER_PORT
//   OMPI_COMM_WORLD_RANK   OMPI_COMM_WORLD_SIZE   MASTER_ADDR, MASTER_PORT
//   SLURM_PROCID           SLURM_NTASKS           MASTER_ADDR, MASTER_PORT
//
// Without MASTER_ADDR process 0 of a step of Slurm is looked for at the first
// of SLURM_STEP_NODELIST, at a port of the job's.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_JOB_ENVIRONMENT_H
#define LLMC_RUNTIME_JOB_ENVIRONMENT_H

#include "llmc/Runtime/Base/Status.h"

#include <functional>
#include <optional>
#include <string>

namespace llmc::rt {

/// A process of several, and where process 0 listens.
struct JobPlace {
  int process = 0;
  int size = 1;
  std::string host = "127.0.0.1";
  int port = 29400;
  /// What all processes of the job know and no others (`LLMC_TOKEN`).
  std::string token;
};

/// The value of a variable, or absent; `getenv` outside of tests.
using Environment =
    std::function<std::optional<std::string>(const std::string &name)>;
Environment processEnvironment();

/// The first host of a list as Slurm writes it: "n003" of "n[003-005,9],gpu1".
std::string firstHost(const std::string &nodes);

/// Absent where no launcher says that there is more than one process. Errors
/// (2): a number that is none or out of range, half of a pair, two launchers
/// that contradict each other.
Result<std::optional<JobPlace>> findJob(const Environment &environment);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_JOB_ENVIRONMENT_H

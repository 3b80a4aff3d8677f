//===- Pch.h - Precompiled header of the runtime's tests --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nearly every unit test of the runtime and of the solvers includes. A
// test must still include what it uses: the build with g++ has no precompiled
// header.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Device/Device.h"
#include "llmc/Runtime/Plan/Format/Plan.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

//===- Pch.h - Precompiled header of the runtime house ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nearly every file of the runtime and of the solvers includes. A source
// file must still include what it uses: the build with g++ has no precompiled
// header.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Plan.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

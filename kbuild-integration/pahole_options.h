// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Parses pahole's command line as used by kernels from 5.15 on to make BTF. Option names and
// defaults are those of pahole 1.32.
#pragma once

#include "common/object_btf/features.h"
#include "common/result.h"
#include "emit/dwarf/languages.h"

#include <cstdint>
#include <string>
#include <vector>

namespace btflink::kbuild
{

/// The version of pahole that btf-pahole reports. Kernels choose pahole's options by the version.
constexpr const char *pahole_version = "v1.32";
constexpr const char *pahole_numeric_version = "132";

struct PaholeOptions {
    enum class Action : uint8_t {
        other, // other uses of pahole than encoding BTF, such as showing a struct
        encode,
        help,
        version,
        numeric_version,
        devel_version,
        supported_features,
    };
    Action action = Action::other;
    std::vector<std::string> files;
    std::string base;     // --btf_base
    std::string detached; // --btf_encode_detached; empty: into the file itself
    FeatureSet features;
    emit::UnitFilter filter; // which units to encode from DWARF
    unsigned jobs = 1;
    bool verbose = false;
    bool quiet = false;                        // no warnings
    std::vector<std::string> unknown_features; // reported with -V
};

/// `arguments`: without the program's name. `environment_languages`: $PAHOLE_LANG_EXCLUDE, the
/// value of --lang_exclude if neither this option nor --lang is given. Errors: a wrong value; in a
/// command line that encodes, also an unknown option, an option without its value, or a value for
/// an option that takes none.
Result<PaholeOptions> read_pahole_options(const std::vector<std::string> &arguments,
                                          const std::string &environment_languages);

} // namespace btflink::kbuild

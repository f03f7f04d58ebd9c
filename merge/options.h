// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a merge is asked to do.
#pragma once

#include "common/object_btf/features.h"
#include "common/result.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::merge
{

struct Base;
class Gatherer;

enum class OutputFormat : uint8_t { raw, object };

/// Which engine finds equal types.
enum class Engine : uint8_t { hash, libbpf };

struct Options {
    std::vector<std::string> inputs; // as on the command line; "@file" is a response file
    std::string image;               // linked file; empty: none
    std::string base;                // BTF that the result continues; empty: none
    /// The same, read before, for callers that merge many things over one; its path is `base`.
    std::shared_ptr<const Base> read_base;
    /// File for an index of `base`; it is made if there is none that fits. It saves time, and
    /// changes nothing else. Empty: none is used.
    std::string base_index;
    std::string output; // file for the result; empty: none
    std::string update; // ELF file that gets the result as .BTF; empty: none
    // With Feature::distilled_base: the result continues not `base` but a distilled base, which
    // goes to OUTPUT.base, or into section .BTF.base.
    OutputFormat format = OutputFormat::raw;
    Engine engine = Engine::hash;
    FeatureSet features = default_features();
    unsigned threads = 1;
    bool auto_threads = false; // small inputs get one thread
    bool verify = false;       // an object whose hashes are not those of its types is an error
    bool verbose = false;
    bool last = false;      // the process ends after it: memory is left to the system
    std::string time_trace; // file for a trace of the run (common/io/trace.h); empty: none
    /// Report::why_dup is wanted: of this name, or of all ("").
    std::optional<std::string> why_dup;
    /// Asked once the inputs are loaded, with the source files that their objects name ("" for one
    /// that names none, or that was not linked into the image): which further inputs make them
    /// complete? For callers that can encode what came without object BTF. Inputs without any BTF
    /// are then no error. Empty: nobody is asked.
    std::function<Result<std::vector<std::string>>(std::span<const std::string_view>)> complete;
    /// Objects in place of inputs: without a base, and for the engine `hash`.
    std::shared_ptr<Gatherer> gathered;
};

/// False: the run prints a report, and that is all.
bool writes_result(const Options &options);

/// Error: options that do not go together. merge() asks, too; a program may before that, as to it
/// this is wrong usage.
Result<void> check_options(const Options &options);

} // namespace btflink::merge

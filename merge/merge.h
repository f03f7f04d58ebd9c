// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge as a function: merges the BTF of objects into the BTF of their link.
#pragma once

#include "common/object_btf/features.h"
#include "common/result.h"
#include "merge/link/select.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace btflink::merge
{

struct Base;
class Gatherer;

/// The form of Options::output: raw BTF, or a relocatable object with a section .BTF.
enum class OutputFormat : uint8_t { raw, object };

/// Which engine finds equal types.
enum class Engine : uint8_t { hash, libbpf };

struct Options {
    std::vector<std::string> inputs; // as on the command line; "@file" is a response file
    std::string image;               // linked file; empty: none
    std::string base;                // file with the BTF that the result extends; empty: none
    /// What read_indexed_base() returned for `base`, for callers that merge repeatedly with the
    /// same base. (The function read_base() returns a Base without the index that merge() needs.)
    /// Null: merge() reads the file.
    std::shared_ptr<const Base> read_base;
    /// File with an index of `base`, which only saves time. If the file does not exist, or its
    /// index does not match, merge() writes a new index into it, if possible (read_indexed_base()).
    /// Empty: no file. Not used with `read_base` or Engine::libbpf.
    std::string base_index;
    std::string output; // file for the result; empty: none
    std::string update; // ELF file that gets the result as .BTF; empty: none
    // With Feature::distilled_base there is a second result, the distilled base, in OUTPUT.base or
    // section .BTF.base. The first result then extends it instead of `base`. But if the first
    // result has no types, there is no second one.

    OutputFormat format = OutputFormat::raw;
    Engine engine = Engine::hash;
    FeatureSet features = default_features();
    unsigned threads = 1;
    bool verify = false; // recompute the hashes of objects; a wrong one is an error
    bool verbose = false;
    bool last = false;      // the process ends after this merge, so memory need not be freed
    std::string time_trace; // file for a trace of the run (common/io/trace.h); empty: none
    /// If set, Report::why_dup explains the definitions of this name, or of all names ("").
    std::optional<std::string> why_dup;
    /// Called after the inputs are loaded, with the source file of each object; "" if the object
    /// names none, or if the image lacks its DWARF. Returns the names of further inputs, which
    /// cover the sources without object BTF.
    std::function<Result<std::vector<std::string>>(std::span<const std::string_view>)> more_inputs;
    /// Objects to merge instead of `inputs`. Only with Engine::hash, and without `base`, `verify`
    /// and `more_inputs`.
    std::shared_ptr<Gatherer> gathered;
};

/// False for a run that only prints the report of --why-dup.
bool writes_result(const Options &options);

/// The files of --output: the result, and its distilled base.
std::vector<std::string> result_files(const Options &options);

/// Error: options exclude each other, or one lacks another that it needs. merge() checks this, too;
/// a program that checks first can report a usage error.
Result<void> check_options(const Options &options);

/// Error: an output (of --output or --time-trace) is also an input, the file to update or another
/// output; or the file to update is the base. `files`: the inputs that were opened, or the response
/// files that named them. Call it before an output is written.
Result<void> check_apart(const Options &options, std::span<const std::string> files);

/// The part of check_apart() that compares the trace with the result. Call it again before the
/// trace is written, because the result may not have existed before.
Result<void> check_trace_apart(const Options &options);

/// The messages and figures of a merge.
struct Report {
    std::vector<std::string> warnings; // shown unless --quiet
    std::vector<std::string> notes;    // shown with -v
    // Sorted by name; shown with -v.
    std::vector<std::pair<std::string, FunctionSkip>> functions_left_out;
    std::string stats;       // "name: value" lines
    std::string why_nothing; // why there is nothing to encode, such as "has no BTF"; else empty
    std::string why_dup;     // the report of --why-dup
};

/// Merges, and writes the result if `options` name an output or an update. If there is nothing to
/// encode, sets report.why_nothing, writes no result, removes the files of --output that an earlier
/// run left, leaves the file of --update as it is, and returns no error. Fills in `report` even on
/// an error.
Result<void> merge(const Options &options, Report &report);

} // namespace btflink::merge

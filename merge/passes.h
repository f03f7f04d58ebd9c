// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes of btf-merge, in the order in which merge.cc calls them. Each takes the results of
// earlier passes as const and returns its own (except that finish_result() takes the blob and may
// mend it).
#pragma once

#include "merge/input/final_btf.h"
#include "merge/input/load_objects.h"
#include "merge/link/image.h"
#include "merge/merge.h"
#include "merge/output/write_elf.h"
#include "merge/stats.h"

#include <future>
#include <set>

namespace btflink::merge
{

// read_inputs.cc: opens, reads and checks the inputs.

/// The inputs of a merge, checked as input/load_objects.h says; later passes trust them.
struct MergeInputs {
    Inputs files;
    std::optional<Input> given_image; // --image
    LoadedObjects loaded;
    Target target;

    const std::vector<Object> &objects() const { return loaded.objects; }
    /// The given image or, without one, the only linked file among the inputs. Null if there is
    /// neither, or if the given image is a module that is also the only input. Error: no image is
    /// given, and several inputs are linked files.
    Result<const Input *> image() const;
    std::set<uint64_t> object_ids() const;
};

/// `base`: the base of the result; may be empty. If no input has BTF, sets `report.why_nothing`;
/// there is nothing to merge then.
Result<MergeInputs> read_inputs(const Options &options, const Base &base, Report &report,
                                Stats &stats);

/// How std::async() runs a pass on which the next pass does not depend: on a second thread if that
/// saves time, otherwise when its result is needed.
std::launch launch_policy(const Options &options, const MergeInputs &in);

/// The file that an error names if it concerns all inputs.
Where where_of_inputs(const Options &options);

// follow_link.cc: reads what the linker decided: which objects are in the image, and where their
// functions and variables are.

struct LinkResult {
    Image image;
    Locations locations; // of each object's variables and functions
};

Result<LinkResult> follow_link(const MergeInputs &in, Report &report, Stats &stats);

// make_blob.cc: makes the BTF of the result, with equal types merged: by hashes, or by libbpf.

/// Sets `report.why_dup` if the options ask for it. Returns an empty blob if they ask for no
/// result.
Result<std::vector<std::byte>> make_blob(const Options &options, const Base &base,
                                         const MergeInputs &in, const LinkResult &link,
                                         Report &report, Stats &stats);

// finish_result.cc: checks, completes and writes the BTF of the result.

struct MergeResult {
    std::vector<std::byte> blob;
    std::vector<std::byte> distilled; // the base of `blob`; empty: not distilled
};

/// Checks and mends `blob`, and adds the distilled base and the layout if the options ask for them.
Result<MergeResult> finish_result(std::vector<std::byte> blob, const Options &options,
                                  const Base &base, const MergeInputs &in, Report &report,
                                  Stats &stats);

/// Returns the number of bytes written; of an updated file, only its new BTF counts.
Result<uint64_t> write_result(const Options &options, const MergeResult &result,
                              const MergeInputs &in);

/// Ends a merge that has nothing to encode: warns with report.why_nothing (for pahole this is not
/// an error either), and removes an output of an earlier run so that it cannot be mistaken for this
/// run's. The file of --update keeps what it has.
Result<void> end_without_btf(const Options &options, Report &report);

} // namespace btflink::merge

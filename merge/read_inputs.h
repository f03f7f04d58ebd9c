// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The first step of a merge: opens, reads and checks the inputs.
#pragma once

#include "merge/input/final_btf.h"
#include "merge/input/load_objects.h"
#include "merge/options.h"
#include "merge/output/write_elf.h"
#include "merge/report.h"
#include "merge/stats.h"

#include <future>
#include <set>

namespace btflink::merge
{

/// The checked inputs of a merge; later steps trust them.
struct MergeInputs {
    Inputs files;
    std::optional<Input> given_image; // --image
    LoadedObjects loaded;
    Target target;

    const std::vector<Object> &objects() const { return loaded.objects; }
    /// The given image, or the only linked file among the inputs; null without an image.
    Result<const Input *> image() const;
    std::set<uint64_t> object_ids() const;
};

/// `base`: the base of the result; may be empty.
Result<MergeInputs> read_inputs(const Options &options, const Base &base, Report &report,
                                Stats &stats);

/// How std::async() runs a pass that is independent of the passes after it: on a second thread, or,
/// with one thread or few objects, when the result is needed.
std::launch second_thread(const Options &options, const MergeInputs &in);

/// The file that an error names if it concerns all inputs.
Where blamed_for_all(const Options &options);

} // namespace btflink::merge

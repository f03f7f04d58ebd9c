// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The first part of the corridor: what is merged, opened, read and checked.
#pragma once

#include "merge/input/final_btf.h"
#include "merge/input/load_objects.h"
#include "merge/options.h"
#include "merge/output/write_elf.h"
#include "merge/report.h"
#include "merge/stats.h"

#include <set>

namespace btflink::merge
{

/// From here on input is trusted.
struct Read {
    Inputs inputs;
    std::optional<Input> given_image; // --image
    Loaded loaded;
    Target target;
    unsigned threads = 1; // what is worthwhile of those that Options gives

    const std::vector<Object> &objects() const { return loaded.objects; }
    /// The image to be used: the one that is given, or the only linked file among the inputs.
    /// Null: there is none.
    Result<const Input *> image() const;
    std::set<uint64_t> object_ids() const;
};

/// `base`: of the result, perhaps none.
Result<Read> read_inputs(const Options &options, const Base &base, Report &report, Stats &stats);

/// What an error is about that is not about one input.
Where blamed_for_all(const Options &options);

} // namespace btflink::merge

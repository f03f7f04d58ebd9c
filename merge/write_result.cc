// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Where each part of the result goes.
#include "merge/write_result.h"

#include "common/io/file_io.h"
#include "merge/output/write_elf.h"

namespace btflink::merge
{

Result<uint64_t> write_result(const Options &options, const MergeResult &result, const Read &read)
{
    const auto &[blob, distilled] = result;
    uint64_t written = 0;
    std::vector<std::byte> object;
    if (!options.output.empty() && options.format == OutputFormat::object) {
        if (read.target.machine == 0)
            return fail(Where{options.output},
                        "raw BTF does not tell the machine of an object file: give an --image");
        object = btf_object(blob, read.target);
    }
    if (!options.output.empty()) {
        const auto &bytes = options.format == OutputFormat::object ? object : blob;
        TRY(write_file(options.output, bytes));
        if (!distilled.empty())
            TRY(write_file(options.output + ".base", distilled));
        written += bytes.size() + distilled.size();
    }
    if (!options.update.empty()) {
        TRY(put_final_btf(options.update, {blob, distilled, read.object_ids()}));
        written += blob.size() + distilled.size();
    }
    return written;
}

} // namespace btflink::merge

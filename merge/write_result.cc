// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes each part of the result to its file.
#include "merge/write_result.h"

#include "common/io/file_io.h"
#include "merge/output/write_elf.h"

#include <sys/stat.h>
#include <unistd.h>

namespace btflink::merge
{

Result<uint64_t> write_result(const Options &options, const MergeResult &result,
                              const MergeInputs &in)
{
    const auto &[blob, distilled] = result;
    uint64_t written = 0;
    std::vector<std::byte> object;
    if (!options.output.empty() && options.format == OutputFormat::object) {
        if (in.target.machine == 0)
            return fail(Where{options.output},
                        "raw BTF does not tell the machine of an object file: give an --image");
        object = btf_object(blob, in.target);
    }
    if (!options.output.empty()) {
        const auto &bytes = options.format == OutputFormat::object ? object : blob;
        TRY(write_file(options.output, bytes));
        if (!distilled.empty())
            TRY(write_file(options.output + ".base", distilled));
        written += bytes.size() + distilled.size();
    }
    if (!options.update.empty()) {
        TRY(put_final_btf(options.update, {blob, distilled, in.object_ids()}));
        written += blob.size() + distilled.size();
    }
    return written;
}

Result<void> end_without_btf(const Options &options, Report &report)
{
    const Where blamed = options.inputs.size() == 1 ? Where{options.inputs.front()} : Where{};
    const bool wanted = !options.output.empty() || !options.update.empty();
    report.warnings.push_back(
        Error{blamed, report.nothing + (wanted ? ": nothing is written" : "")}.str());
    struct stat info;
    for (const std::string &path : result_files(options))
        if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
            ::unlink(path.c_str()) != 0 &&
            ::truncate(path.c_str(), 0) != 0) // in a folder that is not ours, such as /proc/self/fd
            return fail_errno(Where{path}, "cannot be removed");
    return {};
}

} // namespace btflink::merge

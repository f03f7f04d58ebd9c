// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks whether options exclude or need each other, and whether an output would overwrite another
// file of the merge, also through links.
#include "merge/merge.h"

#include "common/io/file_io.h"

namespace btflink::merge
{

bool writes_result(const Options &options)
{
    return !options.why_dup || !options.output.empty() || !options.update.empty();
}

std::vector<std::string> result_files(const Options &options)
{
    if (options.output.empty())
        return {};
    if (!options.features.has(Feature::distilled_base))
        return {options.output};
    return {options.output, options.output + ".base"};
}

Result<void> check_options(const Options &options)
{
    if (options.why_dup && options.engine != Engine::hash)
        return fail({}, "--why-dup needs --dedup=hash");
    if (options.why_dup && options.output == standard_output)
        return fail({}, "--why-dup prints to standard output, and so would --output");
    if (options.why_dup && options.time_trace == standard_output)
        return fail({}, "--why-dup prints to standard output, and so would --time-trace");
    if (!options.features.has(Feature::distilled_base))
        return {};
    if (options.base.empty())
        return fail({}, "--distilled-base needs --base");
    if (options.format == OutputFormat::object)
        return fail({}, "--distilled-base: --format=object has no place for the base");
    if (options.output == standard_output)
        return fail({}, "--distilled-base: standard output has no place for the base");
    return {};
}

Result<void> check_apart(const Options &options, std::span<const std::string> files)
{
    TRY(check_trace_apart(options));
    std::vector<std::string> results = result_files(options);
    if (!options.time_trace.empty())
        results.push_back(options.time_trace);
    auto check_not_written = [&](const std::string &path, const char *what) -> Result<void> {
        for (const std::string &result : results)
            if (same_file(result, path))
                return fail(Where{result}, std::string(what) + ", too; it would be overwritten");
        return {};
    };
    constexpr const char *is_input = "is an input";
    TRY(check_not_written(options.image, is_input));
    TRY(check_not_written(options.base, is_input));
    for (const std::string &path : files)
        TRY(check_not_written(path, is_input));
    TRY(check_not_written(options.update, "is to be updated"));
    if (same_file(options.update, options.base))
        return fail(Where{options.update},
                    "is the base, too; it would be overwritten by BTF that extends it");
    return {};
}

Result<void> check_trace_apart(const Options &options)
{
    for (const std::string &result : result_files(options))
        if (options.time_trace == result || same_file(options.time_trace, result))
            return fail(Where{options.time_trace}, "is written by --output, too");
    return {};
}

} // namespace btflink::merge

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The driver of btf-merge: its passes in order. Each takes the results of earlier passes as const
// and returns its own (except that finish_result() takes the blob and may mend it).
#include "merge/merge.h"

#include "common/io/file_io.h"
#include "merge/base_index/base_index.h"
#include "merge/passes.h"
#include "merge/stats.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace btflink::merge
{

namespace
{

/// Owns the large data of a merge. run_timed() does not destroy it at the end of a process, because
/// the destructors would take a tenth of a merge's time.
struct Memory {
    std::shared_ptr<const Base> base;
    MergeInputs inputs;
    LinkResult link;
};

/// The engine libbpf reads all types of the base, so all must be checked. With an index from a
/// file, only the types that btf-merge accesses are checked. So libbpf gets no such index.
Result<std::shared_ptr<const Base>> open_given_base(const Options &options)
{
    if (options.read_base)
        return options.read_base;
    auto base = TRY(
        read_indexed_base(options.base, options.engine == Engine::hash ? options.base_index : ""));
    return std::make_shared<const Base>(std::move(base));
}

bool has_no_types(const std::vector<std::byte> &blob)
{
    return load<uint32_t>(blob.data() + offsetof(btf_header, type_len), host_order) == 0;
}

/// For Report::why_nothing.
std::string why_no_types(const Options &options, const LinkResult &link)
{
    const bool is_one = options.inputs.size() == 1;
    if (std::ranges::all_of(link.locations.not_linked, std::identity()))
        return (is_one ? "is not in " : "no input is in ") + link.image.name;
    return is_one ? "has no types" : "no input has types";
}

void release_inputs(const Inputs &files)
{
    for (const Input &input : files.list)
        release_pages(input.bytes);
}

Result<void> run(const Options &options, Memory &m, Report &report, Stats &stats)
{
    TRY(check_options(options));
    stats.begin_pass("base");
    m.base = TRY(open_given_base(options));
    const Base &base = *m.base;
    m.inputs = TRY(read_inputs(options, base, report, stats));
    if (!report.why_nothing.empty())
        return end_without_btf(options, report);
    m.link = TRY(follow_link(m.inputs, report, stats));
    auto blob = TRY(make_blob(options, base, m.inputs, m.link, report, stats));
    if (base.btf)
        stats.add("base_index_used", base.index_was_kept);
    if (!writes_result(options))
        return {};
    if (!base.btf && has_no_types(blob)) {
        report.why_nothing = why_no_types(options, m.link);
        return end_without_btf(options, report);
    }
    // From here on the inputs are only needed for messages. When the process ends, the system
    // releases the pages of mapped inputs, which takes another tenth of a kernel's merge. So a
    // second thread, if there is one, releases them during the check, which takes about as long.
    [[maybe_unused]] const auto releasing = // its destructor waits for the thread
        std::async(launch_policy(options, m.inputs), [&m] { release_inputs(m.inputs.files); });
    const auto result = TRY(finish_result(std::move(blob), options, base, m.inputs, report, stats));
    stats.begin_pass("write");
    const uint64_t written = TRY(write_result(options, result, m.inputs));
    stats.add("bytes_written", written);
    return {};
}

Result<void> run_timed(const Options &options, Report &report)
{
    using Milliseconds = std::chrono::duration<double, std::milli>;
    const auto start = std::chrono::steady_clock::now();
    auto memory = std::make_unique<Memory>();
    Stats stats;
    trace::Phase whole("btf-merge");
    Result<void> done = run(options, *memory, report, stats);
    stats.end_pass(); // before `whole` ends, because the phases of a trace nest
    whole.end();
    if (done && writes_result(options))
        stats.add_measure("time_ms.total",
                          Milliseconds(std::chrono::steady_clock::now() - start).count());
    report.stats = stats.text();
    if (options.last)
        (void)memory.release(); // the system frees it faster
    return done;
}

} // namespace

Result<void> merge(const Options &options, Report &report)
{
    if (options.time_trace.empty())
        return run_timed(options, report);
    TRY(trace::start(options.time_trace, "btf-merge"));
    TRY(run_timed(options, report));
    TRY(check_trace_apart(options)); // again, because the result exists only now
    return trace::write();
}

} // namespace btflink::merge

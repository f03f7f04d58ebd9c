// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads files of --time-trace (common/io/trace.h), which have an event per line.
#include "btf-kernel/package/magic.h"
#include "btf-kernel/report/collect.h"
#include "common/io/file_io.h"

#include <algorithm>
#include <charconv>

namespace btflink::kernel::report
{

namespace
{

/// What follows `"key":` in a line; empty: the key is not there.
std::string_view field(std::string_view line, std::string_view key)
{
    const std::string quoted = "\"" + std::string(key) + "\":";
    const size_t at = line.find(quoted);
    return at == std::string_view::npos ? std::string_view() : line.substr(at + quoted.size());
}

std::optional<double> number(std::string_view text)
{
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !(value >= 0 && value < 1e15))
        return std::nullopt;
    return value;
}

void add_step(Data &out, std::string_view name, double wall, double processor)
{
    auto same = std::find_if(out.steps.begin(), out.steps.end(),
                             [&](const Step &step) { return step.name == name; });
    if (same == out.steps.end())
        same = out.steps.insert(out.steps.end(), Step{std::string(name)});
    ++same->count;
    same->wall += wall;
    same->processor += processor;
}

} // namespace

Result<void> collect_trace(const std::string &path, Data &out)
{
    auto bytes = TRY(read_file(path));
    std::string_view text = as_text(bytes);
    std::string program;
    size_t found = 0;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        std::string_view name = field(line, "name");
        const auto wall = number(field(line, "dur"));
        if (!name.starts_with('"'))
            continue;
        name = name.substr(1, name.find('"', 1) - 1);
        if (line.find("\"process_name\"") != std::string_view::npos) {
            program = std::string(field(field(line, "args"), "name"));
            program = program.substr(0, program.find('"', 1)).substr(!program.empty());
        } else if (wall) {
            const auto processor = number(field(line, "tdur"));
            add_step(out, program.empty() ? std::string(name) : program + ": " + std::string(name),
                     *wall / 1e6, processor.value_or(0) / 1e6);
            ++found;
        }
    }
    if (!found)
        return fail(Where{path}, "has no events as --time-trace writes them");
    ++out.traces;
    return {};
}

void sort_steps(Data &out)
{
    std::stable_sort(out.steps.begin(), out.steps.end(),
                     [](const Step &a, const Step &b) { return a.wall > b.wall; });
}

} // namespace btflink::kernel::report

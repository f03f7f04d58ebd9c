// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prints the result of --bpf as text, Markdown and JSON.
#include "btf-kernel/bpf/check_program.h"
#include "common/io/json_text.h"

#include <algorithm>

namespace btflink::kernel::bpf
{

namespace
{

using Status = Verdict::Status;

constexpr Status by_weight[] = {Status::broken, Status::unknown, Status::absent, Status::holds};

std::string verdict_text(const Verdict &verdict)
{
    std::string text(status_name(verdict.status));
    return verdict.text.empty() ? text : text + " (" + verdict.text + ")";
}

std::string line(const Requirement &r)
{
    std::string text = r.what + " " + r.name + ": " + verdict_text(r.after);
    if (r.before.status != r.after.status || r.before.text != r.after.text)
        text += "; before: " + verdict_text(r.before);
    return text;
}

size_t count(const ProgramResult &result, Status status)
{
    return static_cast<size_t>(
        std::count_if(result.requirements.begin(), result.requirements.end(),
                      [&](const Requirement &r) { return r.after.status == status; }));
}

std::string summary(const ProgramResult &result)
{
    return strf("%zu hold, %zu absent and asked for, %zu broken, %zu unknown",
                count(result, Status::holds), count(result, Status::absent),
                count(result, Status::broken), count(result, Status::unknown));
}

std::string json_verdict(const Verdict &verdict)
{
    return JsonObject()
        .text("status", status_name(verdict.status))
        .text("text", verdict.text)
        .result();
}

std::string json_requirement(const Requirement &r)
{
    return JsonObject()
        .text("what", r.what)
        .text("name", r.name)
        .field("programs", json_array(r.programs, json_string))
        .field("old", json_verdict(r.before))
        .field("new", json_verdict(r.after))
        .result();
}

} // namespace

std::string_view status_name(Status status)
{
    constexpr std::string_view names[] = {"holds", "absent", "broken", "unknown"};
    return names[static_cast<size_t>(status)];
}

std::string as_text(const ProgramResult &result)
{
    std::string out = result.path + ": " + summary(result) + "\n";
    for (Status status : by_weight)
        for (const Requirement &r : result.requirements)
            if (r.after.status == status) {
                out += "    " + line(r) + "\n";
                if (status == Status::broken)
                    for (const std::string &program : r.programs)
                        out += "        in " + program + "\n";
            }
    return out;
}

std::string as_markdown(const ProgramResult &result)
{
    std::string out = "### " + result.path + "\n\n" + summary(result) + "\n\n";
    for (Status status : {Status::broken, Status::unknown})
        for (const Requirement &r : result.requirements)
            if (r.after.status == status)
                out += "- " + r.what + " `" + r.name + "`: **" + verdict_text(r.after) + "**\n";
    return out + "\n";
}

std::string as_json(const ProgramResult &result)
{
    std::string out = "{\"program\": " + json_string(result.path);
    for (Status status : by_weight)
        out +=
            ", " + json_string(status_name(status)) + ": " + std::to_string(count(result, status));
    return out + ", \"requirements\": " + json_lines(result.requirements, json_requirement) + "}";
}

} // namespace btflink::kernel::bpf

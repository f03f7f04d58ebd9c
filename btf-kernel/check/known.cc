// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads and applies a file of known findings.
#include "btf-kernel/check/known.h"

#include "btf-kernel/package/magic.h"
#include "common/io/file_io.h"

#include <sstream>

namespace btflink::kernel
{

namespace
{

bool matches(const std::string &pattern, const std::string &text)
{
    return pattern == "*" || pattern == text;
}

Result<void> read_line(const std::string &line, const Where &where, std::vector<Known> &out)
{
    std::istringstream words(line.substr(0, line.find('#')));
    std::string rule, binary, subject;
    if (!(words >> rule))
        return {};
    auto parsed = parse_rule(rule);
    if (!parsed)
        return fail(where, parsed.error().what);
    if (!(words >> binary))
        return fail(where, "a line is RULE BINARY [SUBJECT]");
    std::getline(words >> std::ws, subject); // "enum queue"
    subject.erase(subject.find_last_not_of(" \t\r") + 1);
    out.push_back({*parsed, binary, subject.empty() ? "*" : subject, where});
    return {};
}

} // namespace

Result<std::vector<Known>> read_known(const std::string &path)
{
    const auto bytes = TRY(read_file(path));
    std::istringstream text{std::string(as_text(bytes))};
    std::vector<Known> out;
    size_t number = 0;
    for (std::string line; std::getline(text, line);)
        TRY(read_line(line, Where{path + ", line " + std::to_string(++number)}, out));
    return out;
}

size_t drop_known(std::vector<Finding> &findings, std::vector<Known> &known)
{
    return std::erase_if(findings, [&](const Finding &finding) {
        bool found = false;
        for (Known &line : known)
            if (line.rule == finding.rule && matches(line.binary, finding.binary) &&
                matches(line.subject, finding.subject))
                found = line.met = true;
        return found;
    });
}

} // namespace btflink::kernel

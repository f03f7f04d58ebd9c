// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Names of rules and degrees.
#include "btf-kernel/check/findings.h"

namespace btflink::kernel
{

namespace
{

constexpr const char *names[rule_count] = {
    "unreadable", "no-btf",    "empty",      "verifier",   "base",      "ids",
    "kfunc-func", "kfunc-tag", "kfunc-impl", "kfunc-type", "redefined", "ids-func",
    "ids-twice",  "enum64",    "per-cpu",    "against",    "layout",
};
constexpr const char *degrees[] = {"error", "suspicious", "harmless"};

} // namespace

const char *rule_name(Rule rule)
{
    return names[static_cast<size_t>(rule)];
}

Result<Rule> parse_rule(std::string_view name)
{
    std::string all;
    for (size_t i = 0; i < rule_count; ++i) {
        if (name == names[i])
            return static_cast<Rule>(i);
        all += (i ? ", " : "") + std::string(names[i]);
    }
    return fail({}, "'" + std::string(name) + "' is not a rule; rules are " + all);
}

const char *degree_name(Degree degree)
{
    return degrees[static_cast<size_t>(degree)];
}

Result<Degree> parse_degree(std::string_view name)
{
    for (size_t i = 0; i < std::size(degrees); ++i)
        if (name == degrees[i])
            return static_cast<Degree>(i);
    return fail({}, "'" + std::string(name) +
                        "' is not a degree; degrees are error, suspicious, harmless");
}

} // namespace btflink::kernel

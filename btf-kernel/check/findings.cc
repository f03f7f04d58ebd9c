// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Names of rules.
#include "btf-kernel/check/findings.h"

namespace btflink::kernel
{

namespace
{

constexpr const char *names[rule_count] = {
    "unreadable", "no-btf",     "empty",      "verifier",  "base",    "ids",     "kfunc-func",
    "kfunc-tag",  "kfunc-impl", "kfunc-type", "redefined", "per-cpu", "against", "layout",
};

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
    return fail({}, "'" + std::string(name) + "' is no rule; they are " + all);
}

} // namespace btflink::kernel

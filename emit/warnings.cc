// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The texts of warnings.
#include "emit/emit.h"

namespace btflink::emit
{

namespace
{

/// Units that were not read, and references to them.
struct Unread {
    Skip reason;
    const char *effect; // "1 REASON is not read, so EFFECT: CURE"
    const char *cure;
};
constexpr Unread unread[] = {
    {Skip::split_dwarf_unit, "it gets no BTF", "keep the compiler's .dwo file where it is"},
    {Skip::type_unit, "its type is lost", "use --reader=auto"},
    {Skip::type_unit_reference, "that type is void", "no type unit that is read has it"},
    {Skip::partial_unit, "its types are void", "use --reader=auto"},
    {Skip::unknown_unit, "it gets no BTF", "have the compiler write DWARF 5"},
};

/// "1 type-unit is" or "3 type-units are".
std::string counted(Skip reason, uint64_t count)
{
    return strf("%llu %s%s", static_cast<unsigned long long>(count), skip_word(reason).c_str(),
                count == 1 ? " is" : "s are");
}

} // namespace

std::vector<std::string> warnings(const std::string &path, const EmitReport &report)
{
    std::vector<std::string> out;
    for (const Unread &u : unread)
        if (auto found = report.skips.find(u.reason); found != report.skips.end())
            out.push_back(strf("%s: %s not read, so %s: %s", path.c_str(),
                               counted(u.reason, found->second).c_str(), u.effect, u.cure));
    if (!report.left_out.empty()) {
        out.push_back(report.left_out.front().str());
        if (size_t more = report.left_out.size() - 1)
            out.back() += strf(" (and %zu more)", more);
    }
    return out;
}

} // namespace btflink::emit

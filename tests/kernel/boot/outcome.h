// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The result of a check, and a report that runs checks and prints their results for boot.py.
#pragma once

#include <functional>
#include <sstream>
#include <string>

namespace btflink::boot
{

/// Whether a check passed. The first line of `detail` says what the check saw or what failed; logs,
/// such as libbpf's messages, may follow.
struct Outcome {
    bool passed = false;
    std::string detail;
};

/// Compares values that a check saw with what they must be. The detail of outcome() lists all
/// values, with a remark after each wrong one:
///     pid 101, tgid 99 (must be 100)
class Sightings
{
public:
    /// Requires that `seen` is equal to `wanted`. `what` names the value in the detail.
    template <class Seen, class Wanted>
    void equal(const char *what, const Seen &seen, const Wanted &wanted)
    {
        saw(what, seen);
        if (!(seen == wanted)) {
            text_ << " (must be " << wanted << ")";
            passed_ = false;
        }
    }

    /// Requires that `holds`, a condition on `seen`, is true. If not, the remark is `otherwise`.
    template <class Seen>
    void require(const char *what, const Seen &seen, bool holds, const char *otherwise)
    {
        saw(what, seen);
        if (!holds) {
            text_ << " (" << otherwise << ")";
            passed_ = false;
        }
    }

    Outcome outcome() const { return {passed_, text_.str()}; }

private:
    template <class Seen>
    void saw(const char *what, const Seen &seen)
    {
        text_ << (text_.tellp() > 0 ? ", " : "") << what << ' ' << seen;
    }

    bool passed_ = true;
    std::ostringstream text_;
};

/// Runs checks. Prints their outcomes and a last line on standard output:
///     boot: PASS: NAME: FIRST LINE OF THE DETAIL
///     boot: FAIL: NAME: FIRST LINE OF THE DETAIL
///     boot:     FURTHER LINE OF THE DETAIL
///     boot: end: N checks
class Report
{
public:
    /// Runs `check` in a child process and prints its outcome. A check that crashes or hangs fails,
    /// and the next checks still run. `check` runs in the second thread of the child, where thread
    /// id, process id and parent's process id are three different numbers.
    void check(const std::string &name, const std::function<Outcome()> &check);
    void end() const;

private:
    int count_ = 0;
};

} // namespace btflink::boot

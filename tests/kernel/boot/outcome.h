// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The result of a check, and how init prints it for boot.py.
#pragma once

#include <functional>
#include <sstream>
#include <string>

namespace btflink::boot
{

/// Whether a check passed, and a text for people. Further lines of the text are logs.
struct Outcome {
    bool passed = false;
    std::string detail;
};

/// Compares values that a check saw with expected values, and collects both.
class Sightings
{
public:
    /// `seen` must be `wanted`.
    template <class Seen, class Wanted>
    void equal(const char *what, const Seen &seen, const Wanted &wanted)
    {
        saw(what, seen);
        if (!(seen == wanted)) {
            text_ << " (must be " << wanted << ")";
            passed_ = false;
        }
    }

    /// `holds` must be true for `seen`; `otherwise` is the text if it is not.
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

/// Runs checks and prints a line for each on standard output, and one at the end:
///     boot: PASS: NAME: DETAIL
///     boot: FAIL: NAME: DETAIL
///     boot:     FURTHER LINE OF THE DETAIL
///     boot: end: N checks
class Report
{
public:
    /// Runs `check` in its own process, so that a check that crashes or hangs only fails. The check
    /// runs in the second thread of that process, where process id, thread id and parent are all
    /// different.
    void check(const std::string &name, const std::function<Outcome()> &check);
    void end() const;

private:
    int count_ = 0;
};

} // namespace btflink::boot

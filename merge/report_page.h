// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// --report: a page about one merge, as btf-kernel report writes it.
#pragma once

#include "common/io/fd.h"
#include "merge/options.h"

#include <memory>
#include <string>
#include <vector>

namespace btflink::merge
{

/// btf-kernel is asked for the page after the merge. What it needs and the merge changes is copied
/// before.
class ReportPage
{
public:
    /// Find the program, and copy an input that the merge updates. Without a trace in `options`
    /// there is one in memory from now on. Errors: btf-kernel is not installed; an input cannot be
    /// read.
    Result<void> prepare(Options &options);
    /// Once the merge has written its result. Error: the page could not be written; btf-kernel has
    /// said why.
    Result<void> write(const std::string &page, const Options &options);

private:
    Result<std::string> copy_in_memory(const std::string &path);

    std::string program_;
    std::vector<std::string> objects_;
    std::vector<std::unique_ptr<Fd>> files_; // in memory
};

/// Error: the result cannot be read again, or is BTF that btf-kernel does not open.
Result<void> check_report_options(const Options &options);

} // namespace btflink::merge

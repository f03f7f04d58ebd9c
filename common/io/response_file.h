// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Response files: "@file" on a command line stands for the words in that file.
#pragma once

#include "common/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace btflink
{

/// The words of `text`, separated by white space. Quotes ('...', "...") and backslashes protect
/// white space, as in the response files of gcc and ld. Error: a missing quote.
Result<std::vector<std::string>> split_words(std::string_view text, const Where &where);

/// `arguments` with each "@file" replaced by the words of that file, which may name
/// further response files. Errors: a file that cannot be read, a missing quote, a NUL byte, too
/// deep nesting, more than 32 MB in all.
Result<std::vector<std::string>> unfold_response_files(const std::vector<std::string> &arguments);

} // namespace btflink

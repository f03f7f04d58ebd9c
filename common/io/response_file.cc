// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Replaces "@file" on a command line by the words of that response file.
#include "common/io/file_io.h"

#include <sys/stat.h>

namespace btflink
{

namespace
{

constexpr int max_nesting = 16;
/// Limit in bytes for all response files of a command together, enough for the paths of 300,000
/// objects. Without a limit, 15 files of which each names the next one twice would make the
/// program read a 16th file of any length 32,768 times.
constexpr size_t max_bytes = 32 << 20;

bool is_response_file(const std::string &word, WordRules rules)
{
    if (word.size() < 2 || word[0] != '@')
        return false;
    return rules == WordRules::shell || ::access(word.c_str() + 1, R_OK) == 0;
}

/// Does a backslash protect the character `next` after it? `quote`: the character that began the
/// quotation around them, or 0.
bool protects(WordRules rules, char quote, char next)
{
    if (quote == '\'')
        return rules == WordRules::gcc_14;
    return quote == 0 || rules != WordRules::gcc_15 ||
           std::string_view("$`\"\\\n").find(next) != std::string_view::npos;
}

/// A compiler must be able to read the file after us, which it cannot do with a pipe.
Result<void> check_regular(const Where &where)
{
    struct stat info;
    if (::stat(where.file.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
        return fail(where, "is not a regular file");
    return {};
}

Result<void> unfold(const std::vector<std::string> &arguments, WordRules rules, int depth,
                    size_t &left, UnfoldedWords &out)
{
    for (const std::string &argument : arguments) {
        if (!is_response_file(argument, rules)) {
            out.words.push_back(argument);
            continue;
        }
        Where where{argument.substr(1)};
        if (rules != WordRules::shell)
            TRY(check_regular(where));
        if (depth >= max_nesting)
            return fail(where, "response files are nested too deeply");
        auto bytes = TRY(read_file(where.file, max_bytes));
        if (bytes.size() > left)
            return fail(where, strf("response files are longer than %zu bytes in all", max_bytes));
        left -= bytes.size();
        out.files.push_back(where.file);
        auto words = TRY(split_words(as_text(bytes), where, rules));
        TRY(unfold(words, rules, depth + 1, left, out));
    }
    return {};
}

} // namespace

Result<std::vector<std::string>> split_words(std::string_view text, const Where &where,
                                             WordRules rules)
{
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = 0;
    // open() ends a file name at a NUL byte. Of a list that is separated by NUL bytes, it would see
    // only the first name.
    if (size_t nul = text.find('\0'); nul != text.npos)
        return fail(where.at(nul), "has a NUL byte");
    for (size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '\\' && i + 1 < text.size() && protects(rules, quote, text[i + 1])) {
            ++i;
            if (text[i] != '\n' || rules != WordRules::gcc_15)
                word += text[i];
            in_word = true;
        } else if (quote) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            in_word = true;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
            if (in_word)
                words.push_back(std::move(word));
            word.clear();
            in_word = false;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (quote && rules == WordRules::shell)
        return fail(where.at(text.size()), strf("missing closing %c", quote));
    if (in_word)
        words.push_back(std::move(word));
    return words;
}

Result<UnfoldedWords> unfold_response_files(const std::vector<std::string> &arguments,
                                            WordRules rules)
{
    UnfoldedWords out;
    size_t left = max_bytes;
    TRY(unfold(arguments, rules, 0, left, out));
    return out;
}

} // namespace btflink

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prints the result of --symbols as text, Markdown and JSON.
#include "btf-kernel/diff/words.h"
#include "btf-kernel/kabi/symbols.h"
#include "common/io/json_text.h"

#include <algorithm>

namespace btflink::kernel::kabi
{

namespace
{

using Status = Symbol::Status;

constexpr Status by_weight[] = {Status::gone, Status::signature, Status::reaches, Status::unknown,
                                Status::same};

size_t count(const std::vector<Symbol> &symbols, Status status)
{
    return static_cast<size_t>(std::count_if(symbols.begin(), symbols.end(),
                                             [&](const Symbol &s) { return s.status == status; }));
}

std::string summary(const std::vector<Symbol> &symbols)
{
    return strf("%zu symbols: %zu gone, %zu with another signature, %zu reach what changed, "
                "%zu the same, %zu without BTF",
                symbols.size(), count(symbols, Status::gone), count(symbols, Status::signature),
                count(symbols, Status::reaches), count(symbols, Status::same),
                count(symbols, Status::unknown));
}

std::string distance(const Reached &reached)
{
    if (reached.pointers == 0)
        return "part of it";
    return reached.pointers == 1 ? "behind a pointer"
                                 : strf("behind %u pointers", reached.pointers);
}

void add_text(const Symbol &symbol, const diff::Difference &d, std::string &out)
{
    out += symbol.name + ": " + std::string(status_name(symbol.status)) + "\n";
    for (const Reached &reached : symbol.reached) {
        const diff::Change &change = d.changes[reached.change];
        out += "    " + reached.path + " " + std::string(diff::what_name(change.what));
        if (reached.path != symbol.name) {
            out += ", " + distance(reached) + "\n";
            continue;
        }
        out += "\n";
        for (const std::string &line : diff::detail_lines(change))
            out += "        " + line + "\n";
    }
    if (symbol.more)
        out += "    and others\n";
}

} // namespace

std::string_view status_name(Status status)
{
    constexpr std::string_view names[] = {"same", "reaches what changed", "another signature",
                                          "gone", "no BTF"};
    return names[static_cast<size_t>(status)];
}

std::string as_text(const std::vector<Symbol> &symbols, const diff::Difference &difference)
{
    std::string out = summary(symbols) + "\n";
    for (Status status : by_weight)
        for (const Symbol &symbol : symbols)
            if (symbol.status == status && status != Status::same)
                add_text(symbol, difference, out);
    return out;
}

std::string as_markdown(const std::vector<Symbol> &symbols, const diff::Difference &difference)
{
    std::string text;
    for (Status status : {Status::gone, Status::signature, Status::reaches})
        for (const Symbol &symbol : symbols)
            if (symbol.status == status)
                add_text(symbol, difference, text);
    return "### Symbols\n\n" + summary(symbols) + "\n\n```\n" + text + "```\n";
}

std::string as_json(const std::vector<Symbol> &symbols, const diff::Difference &difference)
{
    auto reached = [&](const Reached &r) {
        return JsonObject()
            .text("name", difference.changes[r.change].name)
            .text("path", r.path)
            .number("pointers", r.pointers)
            .result();
    };
    return json_lines(symbols, [&](const Symbol &symbol) {
        return JsonObject()
            .text("name", symbol.name)
            .text("status", status_name(symbol.status))
            .field("reached", json_array(symbol.reached, reached))
            .boolean("more", symbol.more)
            .result();
    });
}

} // namespace btflink::kernel::kabi

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares banners and configurations.
#include "btf-kernel/check/compare_builds.h"

#include <algorithm>
#include <map>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_options = 5; // in one line

/// "a (b)" from "(a (b)) c"; the rest stays in `text`. Empty if there is no parenthesis at the
/// start.
std::string take_group(std::string_view &text)
{
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    size_t depth = 0, end = 0;
    for (; end < text.size(); ++end) {
        depth += text[end] == '(';
        if (depth == 0)
            return "";
        depth -= text[end] == ')';
        if (depth == 0)
            break;
    }
    if (depth || text.empty())
        return "";
    std::string group(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return group;
}

/// The parts of the banner "Linux version RELEASE (USER) (COMPILER) #NUMBER ...".
struct Banner {
    std::string user;     // "user@host"
    std::string compiler; // with its linker; empty: not known
    std::string number;   // "#1 SMP ...", with the time
};

/// `text`: the banner after "Linux version ".
Banner parse_banner(std::string_view text)
{
    Banner out;
    text.remove_prefix(std::min(text.find(' '), text.size())); // the release
    out.user = take_group(text);
    out.compiler = take_group(text);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.starts_with('#'))
        out.number = text;
    return out;
}

using Config = std::map<std::string_view, std::string_view>;

/// Options that are set, without "CONFIG_".
Config parse_config(std::string_view text)
{
    constexpr std::string_view begin = "CONFIG_";
    Config out;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const size_t equal = line.find('=');
        if (line.starts_with(begin) && equal != std::string_view::npos)
            out.emplace(line.substr(begin.size(), equal - begin.size()), line.substr(equal + 1));
    }
    return out;
}

std::string value_in(const Config &config, std::string_view name)
{
    auto it = config.find(name);
    return it == config.end() ? "not set" : std::string(it->second);
}

/// "A is y here, not set there; ..."; empty without a difference.
std::string compare_configs(const Config &here, const Config &there)
{
    std::map<std::string_view, int> names;
    for (const Config *config : {&here, &there})
        for (const auto &[name, value] : *config)
            ++names[name];
    std::string out;
    size_t count = 0;
    for (const auto &[name, times] : names) {
        const std::string a = value_in(here, name), b = value_in(there, name);
        if (a == b || count++ >= most_options)
            continue;
        out +=
            (out.empty() ? "" : "; ") + std::string(name) + " is " + a + " here, " + b + " there";
    }
    if (count > most_options)
        out += strf("; and %zu more", count - most_options);
    return out;
}

void compare_texts(const char *what, const std::string &a, const std::string &b,
                   std::vector<std::string> &out)
{
    if (a != b && !a.empty() && !b.empty())
        out.push_back(std::string(what) + ": " + a + " here, " + b + " there");
}

} // namespace

BuildDifferences compare_facts(const Kernel &here, const Kernel &there)
{
    BuildDifferences out;
    const Banner a = parse_banner(here.banner), b = parse_banner(there.banner);
    compare_texts("compiler", a.compiler, b.compiler, out.causes);
    compare_texts("user", a.user, b.user, out.harmless);
    compare_texts("build", a.number, b.number, out.harmless);
    if (here.config.empty() || there.config.empty())
        return out;
    if (std::string differ = compare_configs(parse_config(here.config), parse_config(there.config));
        !differ.empty())
        out.causes.push_back("configuration: " + differ);
    return out;
}

} // namespace btflink::kernel

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes a report as an HTML page.
#include "btf-kernel/report/report.h"

#include "btf-kernel/page_assets.h"
#include "common/io/json_text.h"
#include "common/result.h"

#include <algorithm>
#include <map>

namespace btflink::kernel::report
{

namespace
{

constexpr size_t most_rows = 5000, most_places = 10'000, shown_files = 12;
constexpr size_t most_without_filter = 12; // rows of a table

std::string size_text(double bytes)
{
    if (bytes < 1000)
        return strf("%.0f B", bytes);
    return bytes < 1e6 ? strf("%.1f KB", bytes / 1e3) : strf("%.2f MB", bytes / 1e6);
}

std::string html_text(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const size_t size = utf8_character(text);
        const char c = text[0];
        const auto byte = static_cast<unsigned char>(c);
        if (size == 0)
            out += "\ufffd"; // replaces a byte that is not UTF-8
        else if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (byte < 0x20 || byte == 0x7f)
            out += ' ';
        else
            out += text.substr(0, size);
        text.remove_prefix(size ? size : 1);
    }
    return out;
}

std::string number(uint64_t value)
{
    std::string digits = std::to_string(value), out;
    for (size_t i = 0; i < digits.size(); ++i) {
        if (i && (digits.size() - i) % 3 == 0)
            out += "\u2009"; // a thin space
        out += digits[i];
    }
    return out;
}

std::string only_first(size_t count)
{
    return "<p class=\"dim\">Only the first " + number(count) + " are listed.</p>\n";
}

std::string tile(const std::string &value, const std::string &what)
{
    return "<div class=\"tile\"><b>" + value + "</b><span>" + what + "</span></div>\n";
}

/// A cell of a table. Scripts sort rows by `value`, not by `text`. `more`: further classes, each
/// after a blank.
std::string cell(double value, const std::string &text, const char *more = "")
{
    return strf("<td class=\"n%s\" data-v=\"%.0f\">", more, value) + text + "</td>";
}
std::string count_cell(uint64_t value, const char *more = "")
{
    return cell(static_cast<double>(value), number(value), more);
}
std::string size_cell(double value, const char *more = "")
{
    return cell(value, size_text(value), more);
}
std::string bar(double value, double most)
{
    return strf("<td class=\"bar\"><i style=\"width:%.2f%%\"></i></td>",
                most > 0 ? 100 * value / most : 0);
}

struct Column {
    const char *name;
    bool numeric = false;
    const char *more = "";
    bool plain = false; // scripts do not sort rows by this column
};

/// The beginning of a table that scripts can sort, and filter if `with_filter` is set.
std::string table_begin(const std::string &id, const std::vector<Column> &columns, bool with_filter)
{
    std::string out;
    if (with_filter)
        out += "<div class=\"tools script\"><label>filter <input type=\"search\" data-for=\"" + id +
               "\"></label><output aria-live=\"polite\" class=\"dim\"></output></div>\n";
    out += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + id +
           "\"><table data-sort id=\"" + id + "\"><thead><tr>";
    for (const Column &c : columns)
        out += strf("<th scope=\"col\" class=\"%s%s\"%s>%s</th>", c.numeric ? "n" : "", c.more,
                    c.plain ? " data-plain" : "", c.name);
    return out + "</tr></thead><tbody>\n";
}
constexpr const char *table_end = "</tbody></table></div>\n";

std::string kinds(const char *title, const std::string &id, const std::vector<KindSize> &list)
{
    std::string out =
        "<div><h3>" + std::string(title) + "</h3>\n" +
        table_begin(id, {{"kind"}, {"types", true}, {"bytes", true}, {"", false, "", true}}, false);
    for (const KindSize &k : list) // the largest first; strings have no number of types
        out += "<tr><td class=\"word\">" + html_text(k.kind) + "</td>" +
               (k.types ? count_cell(k.types) : "<td class=\"n\" data-v=\"0\"></td>") +
               size_cell(double(k.bytes)) + bar(double(k.bytes), double(list[0].bytes)) + "</tr>\n";
    return out + table_end + "</div>\n";
}

/// Adds a line for a folder or file, then lines for its contents. `count`: the number of lines so
/// far; most_places + 1 means that further lines were left out. Modules share no types, so only
/// sources have the column "alone".
void add_place_line(const Node &node, const Data &d, size_t &count, std::string &out)
{
    if (count > most_places || ++count > most_places)
        return;
    const bool folder = !node.children.empty();
    auto size = [](double bytes) {
        return strf("<span class=\"n\" title=\"%.0f bytes\">", bytes) + size_text(bytes) +
               "</span>";
    };
    const std::string line = "<span>" + html_text(node.name) + (folder ? "/</span>" : "</span>") +
                             size(node.share) + (d.by_source ? size(node.alone) : "");
    if (!folder) {
        out += "<div class=\"place\">" + line + "</div>\n";
        return;
    }
    out += node.share > d.places.share / 2 ? "<details open>" : "<details>";
    out += "<summary class=\"place\">" + line + "</summary>\n";
    for (const Node &child : node.children)
        add_place_line(child, d, count, out);
    out += "</details>\n";
}

std::string places(const Data &d)
{
    std::string out = "<h2 id=\"places\">Where the bytes come from</h2>\n<p>";
    out +=
        d.by_source
            ? "By source folder and file. A type of several files is divided equally among them; "
              "<em>alone</em> counts only types that nothing outside this file or folder has. "
              "Strings, functions and variables are not counted."
            : "vmlinux, and the modules by folder. A package does not show from which sources the "
              "types of vmlinux come; the objects of a build do.";
    out +=
        "</p>\n<div class=\"scroll tree\" tabindex=\"0\" role=\"region\" aria-label=\"places\">\n"
        "<div class=\"place head\"><span>folder or file</span><span class=\"n\">bytes</span>";
    out += d.by_source ? "<span class=\"n\">alone</span></div>\n" : "</div>\n";
    size_t count = 0;
    for (const Node &node : d.places.children)
        add_place_line(node, d, count, out);
    out += "</div>\n";
    return out + (count > most_places ? only_first(most_places) : "");
}

std::string modules(const Data &d)
{
    if (d.modules.empty())
        return "";
    const size_t shown = std::min(d.modules.size(), most_rows);
    std::string out =
        "<h2 id=\"modules\">Modules</h2>\n<p>Sizes of each module's BTF and file. "
        "<em>Redefined</em> counts structs, unions and enums that vmlinux defines, "
        "too: programs that read the BTF may use the wrong definition. (0 for modules "
        "with self-contained BTF, which repeats vmlinux's types on purpose.)</p>\n" +
        table_begin("module-table",
                    {{"module"},
                     {"BTF", true},
                     {"types", true},
                     {"strings", true, " wide"},
                     {"file", true, " wide"},
                     {"redefined", true}},
                    shown > most_without_filter);
    for (size_t i = 0; i < shown; ++i) {
        const ModuleSize &m = d.modules[i];
        out += "<tr><td title=\"" + html_text(m.path) + "\">" + html_text(m.name) + "</td>" +
               size_cell(double(m.bytes)) + count_cell(m.types) +
               size_cell(double(m.strings), " wide") + size_cell(double(m.file_bytes), " wide") +
               count_cell(m.redefined) + "</tr>\n";
    }
    return out + table_end + (shown < d.modules.size() ? only_first(shown) : "");
}

std::string duplicates(const Data &d)
{
    std::string out = "<h2 id=\"duplicates\">Structs, unions and enums with several definitions in "
                      "vmlinux</h2>\n";
    if (d.duplicates.empty())
        return out + "<p>None.</p>\n";
    out += "<p>A name with several definitions (versions) may also cause several copies of types "
           "that reach it. The number of types counts all structs, unions and enums of this name. "
           "An entry first shows how two of the definitions in vmlinux differ.</p>\n";
    for (const Duplicate &duplicate : d.duplicates) {
        out += "<details><summary><code>" + html_text(duplicate.name) +
               "</code>: " + number(duplicate.versions.size()) + " versions, " +
               number(duplicate.types) + " types</summary>\n";
        for (const std::string &text : duplicate.differs)
            out += "<code>" + html_text(text) + "</code><br>\n";
        for (size_t i = 0; i < duplicate.versions.size(); ++i) {
            const auto &files = duplicate.versions[i];
            if (files.empty())
                continue;
            out += "<p>Version " + number(i + 1) + ", in " + number(files.size()) +
                   (files.size() == 1 ? " file: " : " files: ");
            out += joined(files, ", ", html_text, shown_files);
            if (files.size() > shown_files)
                out += " and " + number(files.size() - shown_files) + " more";
            out += "</p>\n";
        }
        out += "</details>\n";
    }
    return out;
}

std::string left_out(const Data &d)
{
    std::string out = "<h2 id=\"left-out\">Functions left out</h2>\n";
    if (!d.has_left_out)
        return out + "<p>Only the objects of a build together with its image show which functions "
                     "were left out, and why.</p>\n";
    std::map<std::string, uint64_t> reasons;
    uint64_t most = 0;
    for (const OmittedFunction &f : d.left_out)
        most = std::max(most, ++reasons[f.reason]);
    out += table_begin("reason-table", {{"reason"}, {"functions", true}, {"", false, "", true}},
                       false);
    for (const auto &[reason, count] : reasons)
        out += "<tr><td>" + html_text(reason) + "</td>" + count_cell(count) +
               bar(double(count), double(most)) + "</tr>\n";
    out += table_end;
    const size_t shown = std::min(d.left_out.size(), most_rows);
    out += "<h3>By name</h3>\n" + table_begin("left-table", {{"function"}, {"reason"}}, true);
    for (size_t i = 0; i < shown; ++i)
        out += "<tr><td>" + html_text(d.left_out[i].function) + "</td><td>" +
               html_text(d.left_out[i].reason) + "</td></tr>\n";
    return out + table_end + (shown < d.left_out.size() ? only_first(shown) : "");
}

std::string steps(const Data &d)
{
    if (d.steps.empty())
        return "";
    std::string out = "<h2 id=\"time\">Time of the BTF steps</h2>\n<p>From " + number(d.traces) +
                      (d.traces == 1 ? " trace" : " traces") +
                      ". Wall and processor times are sums of all runs of a step, also of those on "
                      "parallel threads, and include the steps inside it. The processor time of a "
                      "run is only that of its own thread.</p>\n" +
                      table_begin("time-table",
                                  {{"step"},
                                   {"runs", true, " wide"},
                                   {"wall, s", true},
                                   {"processor, s", true},
                                   {"", false, "", true}},
                                  d.steps.size() > most_without_filter);
    for (const Step &step : d.steps)
        out += "<tr><td class=\"step\">" + html_text(step.name) + "</td>" +
               count_cell(step.count, " wide") + cell(step.wall * 1e6, strf("%.3f", step.wall)) +
               cell(step.processor * 1e6, strf("%.3f", step.processor)) +
               bar(step.wall, d.steps[0].wall) + "</tr>\n";
    return out + table_end;
}

} // namespace

std::string page(const Data &d)
{
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                      "<link rel=\"icon\" href=\"data:,\">\n<title>BTF of ";
    out += html_text(d.title) + "</title>\n<style>" + page_style +
           "</style>\n</head>\n<body>\n<h1>BTF of " + html_text(d.title) + "</h1>\n";
    out += "<nav class=\"toc\" aria-label=\"sections\"><a href=\"#kinds\">Kinds</a><a "
           "href=\"#places\">Places</a>";
    if (!d.modules.empty())
        out += "<a href=\"#modules\">Modules</a>";
    out += "<a href=\"#duplicates\">Duplicates</a><a href=\"#left-out\">Left out</a>";
    out += d.steps.empty() ? "</nav>\n" : "<a href=\"#time\">Time</a></nav>\n";
    double in_modules = 0;
    for (const ModuleSize &m : d.modules)
        in_modules += double(m.bytes);
    out += "<div class=\"tiles\">\n" + tile(size_text(double(d.vmlinux_bytes)), "BTF of vmlinux") +
           tile(number(d.vmlinux_types), "vmlinux types") +
           tile(number(d.functions), "vmlinux functions") +
           tile(size_text(double(d.vmlinux_strings)), "vmlinux strings");
    if (!d.modules.empty())
        out += tile(number(d.modules.size()), "modules") +
               tile(size_text(in_modules), "BTF of modules");
    if (d.objects)
        out += tile(number(d.objects), "objects");
    out += "</div>\n<h2 id=\"kinds\">Sizes by kind</h2>\n<div class=\"two\">\n" +
           kinds("vmlinux", "kind-table", d.vmlinux_kinds);
    if (!d.module_kinds.empty())
        out += kinds("all modules", "module-kind-table", d.module_kinds);
    out += "</div>\n" + places(d) + modules(d) + duplicates(d) + left_out(d) + steps(d);
    return out + "<script>" + page_script + "</script>\n</body>\n</html>\n";
}

} // namespace btflink::kernel::report

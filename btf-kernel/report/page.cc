// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the sections of a report.
#include "btf-kernel/report/page.h"

#include "btf-kernel/report/treemap.h"
#include "common/result.h"

#include <algorithm>
#include <cinttypes>
#include <map>

namespace btflink::kernel::report
{

namespace
{

constexpr size_t most_rows = 5000, most_places = 1500, shown_files = 12;

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

std::string tile(const std::string &value, const std::string &what)
{
    return "<div class=\"tile\"><b>" + value + "</b><span>" + what + "</span></div>\n";
}

/// A cell that sorts by its number.
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
    return strf("<td class=\"bar\"><svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
                "aria-hidden=\"true\"><rect width=\"%.2f\" height=\"10\"/></svg></td>",
                most > 0 ? 100 * value / most : 0);
}

struct Column {
    const char *name;
    bool numeric = false;
    const char *more = "";
    bool plain = false; // not to be sorted by
};

/// The beginning of a table that scripts can sort, with a filter if it is long.
std::string table_begin(const std::string &id, const std::vector<Column> &columns, size_t rows)
{
    std::string out;
    if (rows > 12)
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
        table_begin(id, {{"kind"}, {"types", true}, {"bytes", true}, {"", false, "", true}},
                    list.size() > 12 ? 0 : list.size());
    double most = 0;
    for (const KindSize &k : list)
        most = std::max(most, static_cast<double>(k.bytes));
    for (const KindSize &k : list)
        out += "<tr><td class=\"word\">" + html_text(k.kind) + "</td>" + count_cell(k.types) +
               size_cell(double(k.bytes)) + bar(double(k.bytes), most) + "</tr>\n";
    return out + table_end + "</div>\n";
}

void collect_rows(const Node &node, const std::string &path,
                  std::vector<std::pair<std::string, const Node *>> &rows)
{
    for (const Node &child : node.children) {
        std::string full = path.empty() ? child.name : path + "/" + child.name;
        rows.emplace_back(full + (child.children.empty() ? "" : "/"), &child);
        collect_rows(child, full, rows);
    }
}

std::string places(const Data &d)
{
    std::string out = "<h2 id=\"places\">Where the bytes come from</h2>\n<p>";
    out +=
        d.by_source
            ? "By source folder and file. A type that several files bring counts in equal parts; "
              "<em>alone</em> is what would go without the file or folder."
            : "Modules by their folder. Which sources brought the types of vmlinux is not known "
              "of a package: a build has objects that say it.";
    out += "</p>\n<div class=\"tools script\"><button type=\"button\" id=\"up\">up</button><span "
           "id=\"where\" class=\"dim\" aria-live=\"polite\"></span></div>\n";
    out += treemap_svg(d.places);
    out += "<p class=\"dim script\">Select a folder to look into it; Escape or \"up\" goes "
           "back.</p>\n";
    std::vector<std::pair<std::string, const Node *>> rows;
    collect_rows(d.places, "", rows);
    std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
        return a.second->share > b.second->share;
    });
    const size_t shown = std::min(rows.size(), most_places);
    out +=
        table_begin("place-table", {{"folder or file"}, {"bytes", true}, {"alone", true}}, shown);
    for (size_t i = 0; i < shown; ++i)
        out += "<tr><td>" + html_text(rows[i].first) + "</td>" + size_cell(rows[i].second->share) +
               size_cell(rows[i].second->alone) + "</tr>\n";
    out += table_end;
    if (shown < rows.size())
        out += "<p class=\"dim\">The " + number(rows.size() - shown) +
               " smallest are not listed.</p>\n";
    return out;
}

std::string modules(const Data &d)
{
    if (d.modules.empty())
        return "";
    const size_t shown = std::min(d.modules.size(), most_rows);
    std::string out = "<h2 id=\"modules\">Modules</h2>\n<p>BTF of each module, beside its file. "
                      "<em>Redefined</em> counts structs, unions and enums that vmlinux has by the "
                      "same name, but otherwise: readers may take the wrong one.</p>\n" +
                      table_begin("module-table",
                                  {{"module"},
                                   {"BTF", true},
                                   {"types", true},
                                   {"strings", true, " wide"},
                                   {"file", true, " wide"},
                                   {"redefined", true}},
                                  shown);
    for (size_t i = 0; i < shown; ++i) {
        const ModuleSize &m = d.modules[i];
        out += "<tr><td title=\"" + html_text(m.path) + "\">" + html_text(m.name) + "</td>" +
               size_cell(double(m.bytes)) + count_cell(m.types) +
               size_cell(double(m.strings), " wide") + size_cell(double(m.file_bytes), " wide") +
               count_cell(m.redefined) + "</tr>\n";
    }
    return out + table_end;
}

/// A branch for each version, as long as many files have it.
std::string picture(const Duplicate &duplicate)
{
    constexpr int line = 26;
    const int high = line * static_cast<int>(duplicate.versions.size());
    std::string out = strf("<svg class=\"roots\" viewBox=\"0 0 420 %d\" role=\"img\" "
                           "aria-label=\"how many files have each version\">",
                           high);
    size_t most = 1;
    for (const auto &files : duplicate.versions)
        most = std::max(most, files.size());
    for (size_t i = 0; i < duplicate.versions.size(); ++i) {
        const auto &files = duplicate.versions[i];
        const int y = line * static_cast<int>(i) + line / 2;
        out += strf("<path d=\"M4 %d C30 %d 30 %d 60 %d\"/>", high / 2, high / 2, y, y);
        out += strf("<rect x=\"60\" y=\"%d\" width=\"%.1f\" height=\"14\"/>", y - 7,
                    4 + 120.0 * double(files.size()) / double(most));
        out += strf(
            "<text x=\"200\" y=\"%d\">version %zu%s</text>", y + 4, i + 1,
            files.empty()
                ? ""
                : strf(files.size() == 1 ? ": %zu file" : ": %zu files", files.size()).c_str());
    }
    return out + "</svg>\n";
}

std::string duplicates(const Data &d)
{
    std::string out = "<h2 id=\"duplicates\">Names with several definitions in vmlinux</h2>\n";
    if (d.duplicates.empty())
        return out + "<p>There are none.</p>\n";
    out +=
        "<p>Each of these is the cause of its own duplicates and of those of all types that reach "
        "it. First, how the versions differ.</p>\n";
    for (const Duplicate &duplicate : d.duplicates) {
        out += "<details><summary><code>" + html_text(duplicate.name) +
               "</code>: " + number(duplicate.versions.size()) + " versions, " +
               number(duplicate.types) + " types</summary>\n" + picture(duplicate);
        for (const std::string &text : duplicate.differs)
            out += "<code>" + html_text(text) + "</code><br>\n";
        for (size_t i = 0; i < duplicate.versions.size(); ++i) {
            const auto &files = duplicate.versions[i];
            if (files.empty())
                continue;
            out += "<p>Version " + number(i + 1) + ": ";
            for (size_t k = 0; k < std::min(files.size(), shown_files); ++k)
                out += (k ? ", " : "") + html_text(files[k]);
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
        return out +
               "<p>Not known: only the objects of a build tell which functions were left out, "
               "and why.</p>\n";
    std::map<std::string, uint64_t> reasons;
    uint64_t most = 0;
    for (const LeftOut &f : d.left_out)
        most = std::max(most, ++reasons[f.reason]);
    out += table_begin("reason-table", {{"reason"}, {"functions", true}, {"", false, "", true}}, 0);
    for (const auto &[reason, count] : reasons)
        out += "<tr><td>" + html_text(reason) + "</td>" + count_cell(count) +
               bar(double(count), double(most)) + "</tr>\n";
    out += table_end;
    const size_t shown = std::min(d.left_out.size(), most_rows);
    out += "<h3>All of them</h3>\n" +
           table_begin("left-table", {{"function"}, {"reason"}}, std::max<size_t>(shown, 13));
    for (size_t i = 0; i < shown; ++i)
        out += "<tr><td>" + html_text(d.left_out[i].function) + "</td><td>" +
               html_text(d.left_out[i].reason) + "</td></tr>\n";
    return out + table_end;
}

std::string steps(const Data &d)
{
    if (d.steps.empty())
        return "";
    double most = 0;
    for (const Step &step : d.steps)
        most = std::max(most, step.wall);
    std::string out = "<h2 id=\"time\">Time of the BTF steps</h2>\n<p>Of " + number(d.traces) +
                      (d.traces == 1 ? " trace" : " traces") +
                      "; a step includes those inside it.</p>\n" +
                      table_begin("time-table",
                                  {{"step"},
                                   {"times", true},
                                   {"wall, s", true},
                                   {"processor, s", true},
                                   {"", false, "", true}},
                                  d.steps.size());
    for (const Step &step : d.steps)
        out += "<tr><td>" + html_text(step.name) + "</td>" + count_cell(step.count) +
               cell(step.wall * 1e6, strf("%.3f", step.wall)) +
               cell(step.processor * 1e6, strf("%.3f", step.processor)) + bar(step.wall, most) +
               "</tr>\n";
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
    out += html_text(d.title) + "</title>\n<style>" + std::string(page_style()) +
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
           tile(number(d.vmlinux_types), "types in it") +
           tile(number(d.functions), "functions in it") +
           tile(size_text(double(d.vmlinux_strings)), "strings in it");
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
    return out + "<script>" + std::string(page_script()) + "</script>\n</body>\n</html>\n";
}

} // namespace btflink::kernel::report

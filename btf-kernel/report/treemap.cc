// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Method. Squarified: children, the largest first, are laid in rows along the shorter side; a row
// is closed when one more would make its worst rectangle longer (Bruls, Huizing, van Wijk 2000).
#include "btf-kernel/report/treemap.h"

#include "common/io/json_text.h"
#include "common/result.h"

#include <algorithm>

namespace btflink::kernel::report
{

namespace
{

constexpr double width = 1200, height = 720;
constexpr double smallest = 1.2;        // of a side: zoomed ten times, it is seen
constexpr size_t most_boxes = 6000;     // of one picture
constexpr double head = 15, edge = 1.5; // of a folder
constexpr unsigned colours = 8;

struct Box {
    double x, y, w, h;
};

class Painter
{
public:
    std::string paint(const Node &root)
    {
        out_ = strf("<svg id=\"map\" viewBox=\"0 0 %g %g\" role=\"group\" "
                    "aria-label=\"Treemap of BTF by place\">\n",
                    width, height);
        for (const Node *at = &root;
             !at->children.empty() && at->children[0].share > 0.6 * at->share;
             at = &at->children[0])
            ++trunk_;
        children(root, {0, 0, width, height}, "", 0, 0);
        return out_ + "</svg>\n";
    }

private:
    static double worst(double sum, double least, double most, double side)
    {
        const double s2 = sum * sum, w2 = side * side;
        return std::max(w2 * most / s2, s2 / (w2 * least));
    }

    void children(const Node &node, Box box, const std::string &path, unsigned depth,
                  unsigned colour)
    {
        const double total = node.share;
        if (total <= 0 || box.w < smallest || box.h < smallest)
            return;
        const double scale = box.w * box.h / total;
        const auto &list = node.children;
        for (size_t begin = 0, end; begin < list.size(); begin = end) {
            const double side = std::min(box.w, box.h);
            double sum = 0;
            for (end = begin; end < list.size(); ++end) {
                const double area = list[end].share * scale;
                if (area <= 0 || side <= 0)
                    return;
                const double most = list[begin].share * scale;
                const double before = end > begin ? list[end - 1].share * scale : area;
                if (end > begin &&
                    worst(sum + area, area, most, side) > worst(sum, before, most, side))
                    break;
                sum += area;
            }
            const double thick = sum / side;
            double at = 0;
            for (size_t i = begin; i < end; ++i) {
                const double length = list[i].share * scale / thick;
                const Box inner = box.w >= box.h ? Box{box.x, box.y + at, thick, length}
                                                 : Box{box.x + at, box.y, length, thick};
                at += length;
                place(list[i], inner, path, depth, depth > trunk_ ? colour : unsigned(i) % colours);
            }
            if (box.w >= box.h) {
                box.x += thick;
                box.w -= thick;
            } else {
                box.y += thick;
                box.h -= thick;
            }
        }
    }

    void place(const Node &node, Box box, const std::string &path, unsigned depth, unsigned colour)
    {
        if (box.w < smallest || box.h < smallest || boxes_++ >= most_boxes)
            return;
        const std::string full = path.empty() ? node.name : path + "/" + node.name;
        const bool folder = !node.children.empty();
        const std::string title =
            html_text(full) + ": " + size_text(node.share) + ", alone " + size_text(node.alone);
        out_ += strf(
            "<g class=\"%s c%u d%u\"%s><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
            "height=\"%.2f\"/><title>%s</title>",
            folder ? "dir" : "leaf", colour, std::min(depth, 5u),
            folder ? (" tabindex=\"0\" role=\"button\" aria-label=\"zoom: " + title + "\"").c_str()
                   : "",
            box.x, box.y, box.w, box.h, title.c_str());
        const double top = box.h > 3 * head && box.w > 30 ? head : edge;
        if (folder && top == edge) { // its children are all over it
            out_ += "</g>\n";
            return children(node, {box.x + edge, box.y + edge, box.w - 2 * edge, box.h - 2 * edge},
                            full, depth + 1, colour);
        }
        const bool fits = box.w > 6.5 * double(node.name.size()) + 4 && box.h > 13;
        out_ += strf("<text x=\"%.2f\" y=\"%.2f\"%s>%s</text></g>\n", box.x + 3, box.y + 11,
                     fits ? "" : " class=\"no\"", html_text(node.name).c_str());
        if (!folder)
            return;
        children(node, {box.x + edge, box.y + top, box.w - 2 * edge, box.h - top - edge}, full,
                 depth + 1, colour);
    }

    std::string out_;
    size_t boxes_ = 0;
    unsigned trunk_ = 0; // so deep there is one folder with most in it: colours begin behind it
};

} // namespace

std::string treemap_svg(const Node &root)
{
    return Painter().paint(root);
}

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
            out += "\ufffd"; // a browser may take the whole page for another encoding
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

} // namespace btflink::kernel::report

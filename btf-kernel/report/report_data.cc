// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds the tree of folders and files.
#include "btf-kernel/report/report_data.h"

#include <algorithm>

namespace btflink::kernel::report
{

namespace
{

constexpr unsigned max_depth = 30; // of folders, because paths come from files

Node &child(Node &parent, std::string_view name)
{
    for (Node &node : parent.children)
        if (node.name == name)
            return node;
    parent.children.push_back({std::string(name), 0, 0, {}});
    return parent.children.back();
}

} // namespace

void add_place(Node &root, std::string_view path, double share, double alone)
{
    Node *at = &root;
    at->share += share;
    at->alone += alone;
    for (unsigned depth = 0; !path.empty() && depth < max_depth; ++depth) {
        const size_t end =
            depth + 1 < max_depth ? std::min(path.find('/'), path.size()) : path.size();
        const std::string_view name = path.substr(0, end);
        path.remove_prefix(std::min(end + 1, path.size()));
        if (name.empty() || name == ".")
            continue;
        at = &child(*at, name);
        at->share += share;
        at->alone += alone;
    }
}

void tidy_places(Node &root)
{
    while (root.children.size() == 1 && !root.children[0].children.empty()) {
        Node only = std::move(root.children[0]);
        root.name += (root.name.empty() ? "" : "/") + only.name;
        root.children = std::move(only.children);
    }
    std::sort(root.children.begin(), root.children.end(), [](const Node &a, const Node &b) {
        return a.share != b.share ? a.share > b.share : a.name < b.name;
    });
    for (Node &node : root.children)
        tidy_places(node);
}

} // namespace btflink::kernel::report

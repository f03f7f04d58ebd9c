// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A FIT is a flattened device tree (devicetree specification, chapter 5) with a node per image
// below /images. The specification of FITs (flat image tree) defines the properties.
#include "btf-kernel/package/magic.h"
#include "btf-kernel/package/wrapping.h"

#include <optional>
#include <vector>

namespace btflink::kernel
{

namespace
{

uint32_t u32(Bytes file, size_t at)
{
    return load<uint32_t>(file.data() + at, ByteOrder::big);
}

/// The value of a property that is one number.
std::optional<uint32_t> number(Bytes value)
{
    return value.size() == 4 ? std::optional(u32(value, 0)) : std::nullopt;
}

struct Image {
    std::string_view name, type = {};
    Bytes data = {};
    std::optional<uint32_t> offset = {}, position = {}, size = {}; // of data outside the tree
};

struct Configuration {
    std::string_view name, kernel = {};
};

struct Tree {
    std::vector<Image> images;
    std::vector<Configuration> configurations;
    std::string_view chosen; // name of the default configuration
};

class TreeReader
{
public:
    TreeReader(Bytes nodes, Bytes names, Where where)
        : nodes_(nodes), names_(names), where_(std::move(where))
    {
    }

    Result<Tree> run()
    {
        enum : uint32_t { begin_node = 1, end_node = 2, property = 3, nothing = 4, end = 9 };
        for (;;) {
            auto token = TRY(take(4));
            switch (u32(token, 0)) {
            case begin_node:
                TRY(enter());
                break;
            case property:
                TRY(read_property());
                break;
            case end_node:
                if (path_.empty())
                    return fail(where_.at(at_), "FIT: a node ends that did not begin");
                path_.pop_back();
                break;
            case nothing:
                break;
            case end:
                return std::move(tree_);
            default:
                return fail(where_.at(at_), "FIT: its tree is damaged");
            }
        }
    }

private:
    /// The next `size` bytes. Padding up to a whole word is skipped.
    Result<Bytes> take(uint64_t size)
    {
        auto part = part_of(nodes_, at_, size, "FIT", where_);
        if (part)
            at_ = std::min<uint64_t>(at_ + (size + 3) / 4 * 4, nodes_.size());
        return part;
    }

    Result<void> enter()
    {
        const std::string_view name = text_at(nodes_, at_);
        TRY(take(name.size() + 1));
        path_.push_back(name);
        if (is_in("images"))
            tree_.images.push_back({.name = name});
        else if (is_in("configurations"))
            tree_.configurations.push_back({.name = name});
        return {};
    }

    /// Is this "/FOLDER/X"?
    bool is_in(std::string_view folder) const { return path_.size() == 3 && path_[1] == folder; }

    Result<void> read_property()
    {
        auto head = TRY(take(8));
        auto value = TRY(take(u32(head, 0)));
        const std::string_view name = text_at(names_, u32(head, 4));
        if (is_in("images"))
            keep(tree_.images.back(), name, value);
        else if (is_in("configurations") && name == "kernel")
            tree_.configurations.back().kernel = text_at(value, 0);
        else if (path_.size() == 2 && path_[1] == "configurations" && name == "default")
            tree_.chosen = text_at(value, 0);
        return {};
    }

    static void keep(Image &image, std::string_view name, Bytes value)
    {
        if (name == "type")
            image.type = text_at(value, 0);
        else if (name == "data")
            image.data = value;
        else if (name == "data-offset")
            image.offset = number(value);
        else if (name == "data-position")
            image.position = number(value);
        else if (name == "data-size")
            image.size = number(value);
    }

    Bytes nodes_, names_;
    Where where_;
    uint64_t at_ = 0;
    std::vector<std::string_view> path_; // the root's name is empty
    Tree tree_;
};

/// The kernel of the default configuration, or the first kernel.
const Image *choose(const Tree &tree)
{
    std::string_view name;
    for (const Configuration &configuration : tree.configurations)
        if (configuration.name == tree.chosen)
            name = configuration.kernel;
    const Image *first = nullptr;
    for (const Image &image : tree.images) {
        if (image.type != "kernel" && image.type != "kernel_noload")
            continue;
        if (image.name == name)
            return &image;
        if (!first)
            first = &image;
    }
    return first;
}

} // namespace

Result<Payload> open_fit(Bytes file, const Where &where)
{
    constexpr const char name[] = "FIT";
    const uint64_t total = u32(file, 4);
    auto tree_bytes = TRY(part_of(file, 0, total, name, where));
    const uint32_t nodes_at = u32(file, 8);
    auto nodes = TRY(part_of(tree_bytes, nodes_at, u32(file, 36), name, where));
    auto names = TRY(part_of(tree_bytes, u32(file, 12), u32(file, 32), name, where));
    auto tree = TRY(TreeReader(nodes, names, where).run());
    const Image *kernel = choose(tree);
    if (!kernel)
        return fail(where, "is a device tree without a kernel in it (a FIT has one in /images)");
    if (!kernel->offset && !kernel->position)
        return Payload{kernel->data};
    const uint64_t start =
        kernel->position ? *kernel->position : (total + 3) / 4 * 4 + *kernel->offset;
    auto data = TRY(part_of(file, start, kernel->size.value_or(0), name, where));
    return Payload{data};
}

} // namespace btflink::kernel

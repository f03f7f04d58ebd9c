// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which source files do the bytes of a kernel's BTF come from? Which files have each definition of
// a name? Which functions were left out?
//
// Problem. The final BTF does not say where a type is from; the object BTF of the build does.
//
// Method. Equal types have equal hashes in all objects (common/FORMAT.md). The bytes of a plain
// type are divided among the files that have it. They also count as "alone" for the innermost
// folder that has all of these files, or for the only file: without that folder or file, the kernel
// would not have the type.
#include "btf-kernel/report/report.h"

#include "btf-kernel/diff/compare.h"
#include "btf-kernel/diff/types.h"
#include "merge/input/load_objects.h"
#include "merge/merge.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace btflink::kernel::report
{

namespace
{

struct HashOf {
    size_t operator()(const Hash128 &h) const { return h.low; }
};

/// `a`: a file or a folder; `b`: a file. Returns `a` if it is `b` or contains `b`, otherwise the
/// innermost folder that contains both.
std::string_view common_folder(std::string_view a, std::string_view b)
{
    size_t end = 0, i = 0;
    for (; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
        if (a[i] == '/')
            end = i;
    const bool a_ends = i == a.size() || a[i] == '/', b_ends = i == b.size() || b[i] == '/';
    return a.substr(0, a_ends && b_ends ? i : end);
}

struct SharedType {
    std::vector<uint32_t> files;
    uint32_t bytes = 0;
};

class SourceCounter
{
public:
    explicit SourceCounter(const std::vector<merge::Object> &objects)
    {
        for (const merge::Object &object : objects)
            add(object);
    }

    void fill(Data &out)
    {
        out.places = {};
        for (const auto &[hash, type] : types_) {
            const double part = double(type.bytes) / double(type.files.size());
            std::string_view all = names_[type.files[0]];
            for (uint32_t file : type.files) {
                share_[names_[file]] += part;
                all = common_folder(all, names_[file]);
            }
            alone_[std::string(all)] += type.bytes;
        }
        for (const auto &[name, bytes] : share_)
            add_place(out.places, name, bytes, 0);
        for (const auto &[name, bytes] : alone_)
            add_place(out.places, name, 0, bytes);
        out.by_source = true;
        out.objects = names_.size();
    }

    /// For each name in out.duplicates, lists the files that have each definition, if `objects`
    /// have more than one definition.
    void find_owners(const std::vector<merge::Object> &objects, Data &out) const
    {
        for (Duplicate &duplicate : out.duplicates) {
            std::map<diff::Shape, std::vector<std::string>> versions;
            for (const merge::Object &object : objects)
                add_owner(object, duplicate.name, versions);
            if (versions.size() < 2)
                continue;
            duplicate.versions.clear();
            for (auto &[shape, files] : versions) {
                std::ranges::sort(files);
                files.erase(std::unique(files.begin(), files.end()), files.end());
                duplicate.versions.push_back(std::move(files));
            }
        }
    }

private:
    static std::string name_of(const merge::Object &object)
    {
        std::string name(object.has_trailer ? object.btf.str(object.trailer.source) : "");
        while (name.starts_with("./") || name.starts_with("../") || name.starts_with("/"))
            name.erase(0, name.find('/') + 1);
        return name.empty() ? object.where.file : name;
    }

    void add(const merge::Object &object)
    {
        const auto file = static_cast<uint32_t>(names_.size());
        names_.push_back(name_of(object));
        const Btf &btf = object.btf;
        const Bytes hashes = object.hashes;
        for (uint32_t i = 0; i < btf.size() && (i + 1) * 16 <= hashes.size(); ++i) {
            const TypeId id{raw(btf.first_id()) + i};
            if (!object.is_plain(id))
                continue;
            Hash128 hash{load<uint64_t>(hashes.data() + i * 16, ByteOrder::little),
                         load<uint64_t>(hashes.data() + i * 16 + 8, ByteOrder::little)};
            SharedType &type = types_[hash];
            if (type.files.empty())
                type.bytes = btf::words_of(btf.type(id)) * 4;
            if (type.files.empty() || type.files.back() != file)
                type.files.push_back(file);
        }
    }

    /// Adds the file of `object` to `versions`, for each definition of `name` in the object.
    static void add_owner(const merge::Object &object, const std::string &name,
                          std::map<diff::Shape, std::vector<std::string>> &versions)
    {
        const Btf &btf = object.btf;
        std::optional<diff::Shapes> shapes;
        for (TypeId id : btf.ids()) {
            const btf::Kind kind = btf.kind(id);
            if ((!btf::is_composite(kind) && !btf::is_enum(kind)) ||
                btf::is_declaration(btf.type(id)) || !name.ends_with(btf.name(id)) ||
                diff::type_name(btf, raw(id)) != name)
                continue;
            if (!shapes)
                shapes.emplace(btf);
            versions[shapes->definition(raw(id))].push_back(name_of(object));
        }
    }

    std::vector<std::string> names_;
    std::unordered_map<Hash128, SharedType, HashOf> types_;
    std::map<std::string, double> share_, alone_;
};

/// The features that the first object with a link trailer was emitted with. The link usually had
/// the same, and only with the same features does a merge leave out the same functions.
FeatureSet features_of(const std::vector<merge::Object> &objects)
{
    for (const merge::Object &object : objects)
        if (object.has_trailer)
            return object.trailer.features;
    return default_features();
}

Result<void> collect_left_out(const std::vector<std::string> &objects, const std::string &image,
                              FeatureSet features, unsigned threads, Data &out)
{
    if (image.empty())
        return {};
    merge::Options options;
    options.inputs = objects;
    options.image = image;
    options.features = features;
    options.features.remove(Feature::distilled_base); // needs a base
    options.threads = threads;
    merge::Report report;
    TRY(merge::merge(options, report));
    out.has_left_out = true;
    for (const auto &[name, reason] : report.functions_left_out)
        out.left_out.push_back({name, merge::skip_name(reason)});
    return {};
}

} // namespace

Result<bool> collect_objects(const std::vector<std::string> &objects, const std::string &image,
                             std::optional<FeatureSet> features, unsigned threads, Data &out)
{
    auto inputs = TRY(merge::open_inputs(objects, threads));
    auto loaded = TRY(merge::load(inputs.list, merge::ParseMode::whole, threads));
    if (loaded.objects.empty())
        return false;
    for (merge::Object &object : loaded.objects)
        if (!object.has_trailer)
            object.rehash(); // BTF of another tool, which load() gives no hashes
    SourceCounter counter(loaded.objects);
    counter.fill(out);
    counter.find_owners(loaded.objects, out);
    TRY(collect_left_out(objects, image, features ? *features : features_of(loaded.objects),
                         threads, out));
    return true;
}

} // namespace btflink::kernel::report

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens what is merged, reads its objects, and sees to it that they are of one kind and for one
// machine.
#include "merge/read_inputs.h"

#include "merge/base_index/base_index.h"
#include "merge/check_output_paths.h"
#include "merge/gather/gatherer.h"
#include "merge/input/array_form.h"
#include "merge/input/check_features.h"
#include "merge/input/verify_objects.h"
#include "merge/report_passes.h"

#include <algorithm>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

/// One target for all: byte order, class and machine. Returns it.
Result<Target> check_targets(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                             const std::optional<Input> &image, const Base &base)
{
    const ElfFile *first = image ? &*image->elf : nullptr;
    auto agrees = [&](const Input &input) -> Result<void> {
        if (!input.elf)
            return {};
        const ElfFile &elf = *input.elf;
        if (!first)
            first = &elf;
        if (elf.order() != first->order() || elf.address_size() != first->address_size() ||
            elf.machine() != first->machine())
            return fail(elf.where(),
                        "is for another machine, class or byte order than " + first->where().file);
        return {};
    };
    for (const Input &input : inputs)
        TRY(agrees(input));
    if (first && base.input)
        TRY(agrees(*base.input));
    Where named = first ? first->where() : objects.front().where;
    ByteOrder order = first ? first->order() : objects.front().btf.order();
    for (const Object &o : objects)
        if (o.btf.order() != order)
            return fail(o.where, "has another byte order than " + named.file);
    if (base.btf && base.btf->order() != order)
        return fail(base.input->where, "has another byte order than " + named.file);
    Target target;
    target.order = order;
    if (first) {
        target.machine = first->machine();
        target.flags = first->machine_flags();
        target.address_size = first->address_size();
    } else {
        // One of them has a `long`, or it does not matter.
        for (const Object &o : objects)
            target.address_size = std::min(target.address_size, guess_address_size(o.btf));
    }
    auto size = base.btf && first ? address_size_of(*base.btf) : std::nullopt;
    if (size && *size != target.address_size)
        return fail(base.input->where, strf("has pointers of %u bytes, %s has such of %u", *size,
                                            named.file.c_str(), target.address_size));
    return target;
}

/// Ids of the address pools in an image: of the objects that were linked into it.
Result<std::unordered_set<uint64_t>> linked_ids(const std::optional<Input> &image)
{
    std::unordered_set<uint64_t> ids;
    if (!image)
        return ids;
    auto sections = TRY(pool_sections(*image->elf));
    for (const PoolSection &section : sections)
        for (const PoolPart &part : section.parts)
            ids.insert(part.first_id);
    return ids;
}

/// Is there so little to do, as for most modules, that starting a thread takes longer?
bool is_small(const std::vector<Input> &inputs)
{
    uint64_t bytes = 0;
    for (const Input &input : inputs) {
        if (!input.elf)
            bytes += input.bytes.size();
        else
            for (const Section &section : input.elf->sections())
                if (section.name.starts_with(".BTF"))
                    bytes += section.size;
    }
    return bytes < 1 << 20;
}

/// libbpf's engine takes all types as they are.
Reading reading_for(Engine engine)
{
    return engine == Engine::hash ? Reading::marked : Reading::whole;
}

/// Add the inputs that the caller makes for what has no object BTF, or that of another link.
Result<void> complete(const Options &options, Read &read)
{
    auto ids = TRY(linked_ids(read.given_image));
    auto has_pool = [](const Object &o) { return o.trailer.flags & trailer_has_pool; };
    bool pools = std::any_of(read.objects().begin(), read.objects().end(), [&](const Object &o) {
        return o.has_trailer && has_pool(o) && ids.contains(o.trailer.object_id);
    });
    std::vector<std::string_view> sources;
    for (const Object &o : read.objects()) {
        bool covers =
            o.has_trailer && (!pools || !has_pool(o) || ids.contains(o.trailer.object_id));
        sources.push_back(covers ? o.btf.str(o.trailer.source) : std::string_view());
    }
    auto names = TRY(options.complete(sources));
    if (names.empty())
        return {};
    auto more = TRY(open_inputs(names, options.threads));
    auto added = TRY(load(more.list, reading_for(options.engine), options.threads));
    for (Object &object : added.objects) {
        object.input += static_cast<uint32_t>(read.inputs.list.size());
        read.loaded.objects.push_back(std::move(object));
    }
    std::move(more.list.begin(), more.list.end(), std::back_inserter(read.inputs.list));
    std::move(added.without_btf.begin(), added.without_btf.end(),
              std::back_inserter(read.loaded.without_btf));
    std::move(added.decompressed.begin(), added.decompressed.end(),
              std::back_inserter(read.loaded.decompressed));
    return {};
}

/// Response files and archives unfold into one list in link order.
Result<void> open_all(const Options &options, Read &read)
{
    read.inputs = TRY(open_inputs(options.inputs, options.threads));
    TRY(check_apart(options, read.inputs));
    if (options.image.empty())
        return {};
    read.given_image = TRY(open_input(options.image));
    if (!read.given_image->elf)
        return fail(read.given_image->where, "is given as image, but is not an ELF file");
    return {};
}

/// Every contribution becomes an Object.
Result<void> load_all(const Options &options, Read &read, Stats &stats)
{
    if (options.gathered) {
        CHECK(read.inputs.list.empty() && options.base.empty() && options.engine == Engine::hash);
        read.inputs.list.push_back({options.gathered->where(), nullptr, {}, {}});
        read.loaded = options.gathered->finish();
        read.loaded.decompressed.push_back(options.gathered);
    } else {
        read.loaded = TRY(load(read.inputs.list, reading_for(options.engine), read.threads));
    }
    if (options.complete)
        TRY(complete(options, read));
    if (options.verify) {
        stats.begin_pass("verify");
        TRY(verify_objects(read.inputs.list, read.objects(), options.threads));
    }
    if (options.features.has(Feature::true_signature))
        use_true_signatures(read.loaded.objects);
    return {};
}

std::optional<KnownArrays> known_arrays(const Base &base)
{
    if (!base.index)
        return std::nullopt;
    auto for_structs = [&base](std::string_view name, const std::function<void(TypeId)> &visit) {
        base.index->for_named(name, [&](TypeId id, TypeId) { visit(id); });
    };
    return KnownArrays{base.index->arrays(), for_structs};
}

void report_inputs(const Read &read, const Base &base, Report &report, Stats &stats)
{
    for (const std::string &name : read.inputs.ignored)
        report.notes.push_back(name + ": neither ELF nor BTF, skipped");
    for (const std::string &name : read.loaded.without_btf)
        report.notes.push_back(name + ": no BTF, skipped");
    stats.add("inputs", read.inputs.list.size());
    stats.add("inputs_without_btf", read.loaded.without_btf.size());
    stats.add("objects", read.objects().size());
    stats.add("objects_by_compiler",
              static_cast<uint64_t>(
                  std::count_if(read.objects().begin(), read.objects().end(), [](const Object &o) {
                      return o.has_trailer && (o.trailer.flags & trailer_by_compiler);
                  })));
    count_bytes(read.objects(), base.btf.get(), stats);
}

bool has_dwarf(const Input &input)
{
    return input.elf && std::ranges::any_of(input.elf->sections(), [](const Section &s) {
               return s.name == ".debug_info" || s.name == ".zdebug_info";
           });
}

} // namespace

Where blamed_for_all(const Options &options)
{
    return Where{options.inputs.empty() ? options.image : options.inputs.front()};
}

Result<const Input *> Read::image() const
{
    if (given_image) {
        // A module that is its own image needs none: its relocations say all.
        bool same = given_image->elf->is_relocatable() && inputs.list.size() == 1 &&
                    std::ranges::equal(given_image->bytes, inputs.list[0].bytes);
        return same ? nullptr : &*given_image;
    }
    const Input *linked = nullptr;
    for (const Input &input : inputs.list) {
        if (!input.elf || input.elf->is_relocatable())
            continue;
        if (linked)
            return fail(input.where, "is a second linked file (the first is " + linked->where.file +
                                         "); say which is the --image");
        linked = &input;
    }
    return linked;
}

std::set<uint64_t> Read::object_ids() const
{
    std::set<uint64_t> ids;
    for (const Object &o : objects())
        if (o.has_trailer && o.trailer.object_id) // what was gathered has none, and no pool
            ids.insert(o.trailer.object_id);
    return ids;
}

Result<Read> read_inputs(const Options &options, const Base &base, Report &report, Stats &stats)
{
    Read read;
    stats.begin_pass("open");
    TRY(open_all(options, read));
    const bool alone = options.auto_threads && !options.complete && !options.gathered;
    read.threads = alone && is_small(read.inputs.list) ? 1 : options.threads;
    stats.begin_pass("load");
    TRY(load_all(options, read, stats));
    report_inputs(read, base, report, stats);
    if (read.objects().empty()) {
        report.nothing = options.inputs.size() == 1 ? "there is no BTF in it"
                                                    : "there is no BTF in any of the inputs";
        if (std::ranges::any_of(read.inputs.list, has_dwarf))
            report.nothing += "; it is btf-emit that makes it of DWARF";
        return read;
    }
    read.target = TRY(check_targets(read.inputs.list, read.objects(), read.given_image, base));
    if (base.btf)
        stats.add("objects_made_flat",
                  take_form_of_base(*base.btf, known_arrays(base), read.loaded.objects,
                                    options.engine == Engine::hash, read.threads));
    for (std::string &text : check_settings(read.objects(), options.features))
        report.warnings.push_back(std::move(text));
    return read;
}

} // namespace btflink::merge

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens the inputs, reads their objects, and checks that all ELF files are for one target and all
// BTF has its byte order. (Pointer sizes of raw inputs are not compared.)
#include "merge/passes.h"

#include "merge/base_index/base_index.h"
#include "merge/gather/gatherer.h"
#include "merge/input/load_objects.h"

#include <algorithm>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

/// The given image, or else the first ELF file among the inputs; null if there is neither.
const ElfFile *first_elf(const MergeInputs &in)
{
    if (in.given_image)
        return &*in.given_image->elf;
    for (const Input &input : in.files.list)
        if (input.elf)
            return &*input.elf;
    return nullptr;
}

Result<void> check_machines(const MergeInputs &in, const Base &base, const ElfFile &first)
{
    auto check = [&](const Input &input) -> Result<void> {
        if (!input.elf)
            return {};
        const ElfFile &elf = *input.elf;
        if (elf.order != first.order || elf.address_size() != first.address_size() ||
            elf.head.e_machine != first.head.e_machine)
            return fail(elf.where,
                        "is for another machine, class or byte order than " + first.where.file);
        return {};
    };
    for (const Input &input : in.files.list)
        TRY(check(input));
    return base.input ? check(*base.input) : Result<void>();
}

/// Error: an object or the base does not have `order`, the byte order of the file `name`.
Result<void> check_byte_order(const std::vector<Object> &objects, const Base &base, ByteOrder order,
                              const std::string &name)
{
    for (const Object &o : objects)
        if (o.btf.order() != order)
            return fail(o.where, "has another byte order than " + name);
    if (base.btf && base.btf->order() != order)
        return fail(base.input->where, "has another byte order than " + name);
    return {};
}

/// Raw BTF states only its byte order. A pointer has the size of `long` in the objects (the
/// smallest, if they differ), or else in the base. If no object and no base has `long`, 8 bytes are
/// assumed.
Target target_of_raw(const std::vector<Object> &objects, const Base &base)
{
    Target target;
    target.order = objects.front().btf.order();
    std::optional<uint8_t> least;
    for (const Object &o : objects)
        if (const std::optional<uint8_t> size = address_size_of(o.btf))
            least = std::min(*size, least.value_or(*size));
    if (!least && base.btf)
        least = address_size_of(*base.btf);
    target.address_size = least.value_or(8);
    return target;
}

/// The target of the image and of the inputs that are ELF files; without either, target_of_raw().
/// Errors: an object or the base has another byte order; these files, or a base that is an ELF
/// file, differ in machine, byte order or pointer size; the BTF of the base is for another pointer
/// size. Without an image or ELF input, only byte orders are compared.
Result<Target> find_target(const MergeInputs &in, const Base &base)
{
    const ElfFile *first = first_elf(in);
    if (!first) {
        const Target target = target_of_raw(in.objects(), base);
        TRY(check_byte_order(in.objects(), base, target.order, in.objects().front().where.file));
        return target;
    }
    const std::string &name = first->where.file;
    TRY(check_machines(in, base, *first));
    TRY(check_byte_order(in.objects(), base, first->order, name));
    const uint8_t size = first->address_size();
    const auto of_base = base.btf ? address_size_of(*base.btf) : std::nullopt;
    if (of_base && *of_base != size)
        return fail(base.input->where,
                    strf("pointer size is %u, but that of %s is %u", *of_base, name.c_str(), size));
    return Target{first->head.e_machine, first->head.e_flags, size, first->order};
}

/// Ids of the objects that were linked into the image: those with address pools in it.
Result<std::unordered_set<uint64_t>> linked_ids(const std::optional<Input> &image)
{
    std::unordered_set<uint64_t> ids;
    if (!image)
        return ids;
    auto sections = TRY(pool_sections(*image->elf));
    for (const PoolSection &section : sections)
        for (const PoolPart &part : section.parts)
            ids.insert(part.object_id);
    return ids;
}

/// libbpf gets all types, so all are checked first.
ParseMode parse_mode(Engine engine)
{
    return engine == Engine::hash ? ParseMode::by_samples : ParseMode::whole;
}

template <typename T>
void append(std::vector<T> &to, std::vector<T> &&from)
{
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// For each object, the name of its source file, if the image has the object's DWARF; otherwise "".
/// (EmitOptions::covered needs one name for each unit that has object BTF. A name without a unit
/// could hide another unit that lacks object BTF.) The image lacks the object's DWARF if the
/// trailer says so (trailer_no_dwarf), or if a pool was written for the object but is not in the
/// image: the object was not linked, or `strip --strip-debug` removed the pool and the DWARF. An
/// object for which no pool was written counts as linked. Also "" for an object without a trailer,
/// or whose trailer names no source.
Result<std::vector<std::string_view>> covered_sources(const MergeInputs &in)
{
    const auto linked = TRY(linked_ids(in.given_image));
    std::vector<std::string_view> sources;
    for (const Object &o : in.objects()) {
        const bool counts =
            o.has_trailer && !(o.trailer.flags & trailer_no_dwarf) &&
            (!(o.trailer.flags & trailer_has_pool) || linked.contains(o.trailer.object_id));
        sources.push_back(counts ? o.btf.str(o.trailer.source) : std::string_view());
    }
    return sources;
}

/// Adds the inputs that the caller makes for sources without object BTF.
Result<void> add_more_inputs(const Options &options, MergeInputs &in)
{
    const auto sources = TRY(covered_sources(in));
    const auto names = TRY(options.more_inputs(sources));
    if (names.empty())
        return {};
    auto more = TRY(open_inputs(names, options.threads));
    auto added = TRY(load(more.list, parse_mode(options.engine), options.threads));
    for (Object &object : added.objects)
        object.input += static_cast<uint32_t>(in.files.list.size());
    append(in.files.list, std::move(more.list));
    append(in.loaded.objects, std::move(added.objects));
    append(in.loaded.without_btf, std::move(added.without_btf));
    append(in.loaded.owners, std::move(added.owners));
    return {};
}

Result<void> open_all(const Options &options, MergeInputs &in)
{
    in.files = TRY(open_inputs(options.inputs, options.threads));
    TRY(check_apart(options, in.files.files));
    TRY(check_apart(options, in.files.lists));
    if (options.image.empty())
        return {};
    in.given_image = TRY(open_input(options.image));
    if (!in.given_image->elf)
        return fail(in.given_image->where, "is given as image, but is not an ELF file");
    return {};
}

Result<void> load_all(const Options &options, MergeInputs &in, Stats &stats)
{
    if (options.gathered) {
        CHECK(in.files.list.empty() && options.base.empty() && options.engine == Engine::hash);
        in.files.list.push_back({options.gathered->where(), nullptr, {}, {}});
        in.loaded = options.gathered->finish();
        in.loaded.owners.push_back(options.gathered);
    } else {
        in.loaded = TRY(load(in.files.list, parse_mode(options.engine), options.threads));
    }
    if (options.more_inputs)
        TRY(add_more_inputs(options, in));
    if (options.verify) {
        stats.begin_pass("verify");
        TRY(verify_objects(in.files.list, in.objects(), options.threads));
    }
    if (options.features.has(Feature::true_signature))
        use_true_signatures(in.loaded.objects);
    return {};
}

/// Bytes of the inputs, by purpose, and of the base, which may be null.
void count_bytes(const std::vector<Object> &objects, const Btf *base, Stats &stats)
{
    uint64_t blobs = 0, hashes = 0, trailers = 0;
    for (const Object &o : objects) {
        blobs += btf::header_size + o.btf.words().size_bytes() + o.btf.str_size();
        if (!o.has_trailer)
            continue;
        hashes += o.hashes.size();
        trailers += o.trailer_bytes.size() - o.hashes.size();
    }
    stats.add("bytes_read.types", blobs);
    stats.add("bytes_read.hashes", hashes);
    stats.add("bytes_read.trailers", trailers);
    stats.add("bytes_read.base", base ? base->blob_size() : 0);
}

void report_inputs(const MergeInputs &in, const Base &base, Report &report, Stats &stats)
{
    for (const std::string &name : in.files.ignored)
        report.notes.push_back(name + ": neither ELF nor BTF, skipped");
    for (const std::string &name : in.loaded.without_btf)
        report.notes.push_back(name + ": no BTF, skipped");
    stats.add("inputs", in.files.list.size());
    stats.add("inputs_without_btf", in.loaded.without_btf.size());
    stats.add("objects", in.objects().size());
    stats.add("objects_by_compiler",
              static_cast<uint64_t>(std::ranges::count_if(in.objects(), [](const Object &o) {
                  return o.has_trailer && (o.trailer.flags & trailer_by_compiler);
              })));
    count_bytes(in.objects(), base.btf.get(), stats);
}

bool has_dwarf(const Input &input)
{
    return input.elf && std::ranges::any_of(input.elf->sections, [](const ElfSection &s) {
               return s.name == ".debug_info" || s.name == ".zdebug_info";
           });
}

} // namespace

std::launch launch_policy(const Options &options, const MergeInputs &in)
{
    // Most modules have fewer objects; there a thread costs more than it saves.
    constexpr size_t many_objects = 64;
    return options.threads > 1 && in.objects().size() >= many_objects ? std::launch::async
                                                                      : std::launch::deferred;
}

Where where_of_inputs(const Options &options)
{
    return Where{options.inputs.empty() ? options.image : options.inputs.front()};
}

Result<const Input *> MergeInputs::image() const
{
    if (given_image) {
        // A module that is both the input and the image is merged without an image: its relocations
        // are sufficient.
        const bool is_input = given_image->elf->is_relocatable() && files.list.size() == 1 &&
                              std::ranges::equal(given_image->bytes, files.list[0].bytes);
        return is_input ? nullptr : &*given_image;
    }
    const Input *linked = nullptr;
    for (const Input &input : files.list) {
        if (!input.elf || input.elf->is_relocatable())
            continue;
        if (linked)
            return fail(input.where, "is a second linked file (the first is " + linked->where.file +
                                         "); say which is the --image");
        linked = &input;
    }
    return linked;
}

std::set<uint64_t> MergeInputs::object_ids() const
{
    std::set<uint64_t> ids;
    for (const Object &o : objects())
        if (o.has_trailer && o.trailer.object_id) // gathered objects have neither id nor pool
            ids.insert(o.trailer.object_id);
    return ids;
}

Result<MergeInputs> read_inputs(const Options &options, const Base &base, Report &report,
                                Stats &stats)
{
    MergeInputs in;
    stats.begin_pass("open");
    TRY(open_all(options, in));
    stats.begin_pass("load");
    TRY(load_all(options, in, stats));
    report_inputs(in, base, report, stats);
    if (in.objects().empty()) {
        report.why_nothing = options.inputs.size() != 1 ? "no input has BTF"
                             : in.files.files.empty()   ? "names no file"
                                                        : "has no BTF";
        if (std::ranges::any_of(in.files.list, has_dwarf))
            report.why_nothing += "; btf-emit makes BTF from DWARF";
        return in;
    }
    in.target = TRY(find_target(in, base));
    if (base.btf)
        use_array_form_of_base(*base.index, in.loaded.objects, options.engine == Engine::hash,
                               options.threads);
    for (std::string &text : check_settings(in.objects(), options.features))
        report.warnings.push_back(std::move(text));
    return in;
}

} // namespace btflink::merge

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The corridor of btf-merge: its passes in order. Each takes earlier results as const and returns
// its own.
#include "merge/merge.h"

#include "common/btf/btf_check.h"
#include "common/btf/btf_check_header.h"
#include "common/btf/btf_layout.h"
#include "common/io/file_io.h"
#include "common/io/file_parts.h"
#include "common/io/parallel.h"
#include "merge/check_output_paths.h"
#include "merge/dedup/dedup.h"
#include "merge/dedup/libbpf/assemble.h"
#include "merge/dedup/libbpf/dedup_libbpf.h"
#include "merge/explain/why_dup.h"
#include "merge/input/array_form.h"
#include "merge/input/check_features.h"
#include "merge/input/final_btf.h"
#include "merge/input/verify_objects.h"
#include "merge/output/distill.h"
#include "merge/output/write_btf.h"
#include "merge/output/write_elf.h"
#include "merge/report_passes.h"
#include "merge/stats.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

/// The image to be used: the one that is given, or the only linked file among the inputs.
Result<const Input *> choose_image(const std::optional<Input> &given,
                                   const std::vector<Input> &inputs)
{
    if (given) {
        // A module that is its own image needs none: its relocations say all.
        bool same = given->elf->is_relocatable() && inputs.size() == 1 &&
                    std::ranges::equal(given->bytes, inputs[0].bytes);
        return same ? nullptr : &*given;
    }
    const Input *linked = nullptr;
    for (const Input &input : inputs) {
        if (!input.elf || input.elf->is_relocatable())
            continue;
        if (linked)
            return fail(input.where, "is a second linked file (the first is " + linked->where.file +
                                         "); say which is the --image");
        linked = &input;
    }
    return linked;
}

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
        RETURN_IF_ERROR(agrees(input));
    if (first && base.input)
        RETURN_IF_ERROR(agrees(*base.input));
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

/// Feature::layout, for BTF without a base. That of a kernel tells whether it reads one.
Result<void> add_layout_section(std::vector<std::byte> &blob, ByteOrder order, Report &report)
{
    auto btf = Btf::parse(blob, Where{"merged BTF", "", 0});
    if (!btf)
        return tl::unexpected(btf.error());
    if (kernel_forms(std::nullopt, *btf).layout == false)
        report.warnings.push_back("feature layout is left out: this kernel refuses BTF that has it "
                                  "(there is no struct btf_layout)");
    else
        add_layout(blob, order, true);
    return {};
}

/// The last gate: what we write must be what a kernel takes.
Result<void> check_result(Bytes blob, const Base &base, const Target &target, Stats &stats)
{
    Where where{"merged BTF", "", 0};
    auto btf = Btf::parse(blob, where, base.btf);
    if (!btf)
        return tl::unexpected(btf.error());
    RETURN_IF_ERROR(check_btf(blob, *btf, where, target.address_size));
    stats.add("types_out", btf->size());
    std::array<uint64_t, btf::kind_count> kinds{};
    for (TypeId id = btf->first_id(); id < btf->end_id(); id = TypeId{raw(id) + 1})
        ++kinds[btf->kind(id)];
    for (uint32_t k = 1; k < btf::kind_count; ++k)
        stats.add(std::string("types_out.") + btf::kinds[k].name, kinds[k]);
    stats.add("bytes_out", blob.size());
    return {};
}

/// `distilled`: empty if that is not asked for. Returns how many bytes were written of the result.
Result<uint64_t> write_result(const Options &options, const std::vector<std::byte> &blob,
                              const std::vector<std::byte> &distilled, const Target &target,
                              const std::set<uint64_t> &object_ids)
{
    uint64_t written = 0;
    std::vector<std::byte> object;
    if (!options.output.empty() && options.format == OutputFormat::object) {
        if (target.machine == 0)
            return fail(Where{options.output},
                        "raw BTF does not tell the machine of an object file: give an --image");
        object = btf_object(blob, target);
    }
    if (!options.output.empty()) {
        const auto &bytes = options.format == OutputFormat::object ? object : blob;
        RETURN_IF_ERROR(write_file(options.output, bytes));
        if (!distilled.empty())
            RETURN_IF_ERROR(write_file(options.output + ".base", distilled));
        written += bytes.size() + distilled.size();
    }
    if (!options.update.empty()) {
        RETURN_IF_ERROR(put_final_btf(options.update, {blob, distilled, object_ids}));
        written += blob.size() + distilled.size();
    }
    return written;
}

/// What an error is about that is not about one input.
Where named(const Options &options)
{
    return Where{options.inputs.empty() ? options.image : options.inputs.front()};
}

/// Ids of the address pools in an image: of the objects that were linked into it.
Result<std::unordered_set<uint64_t>> linked_ids(const std::optional<Input> &image)
{
    std::unordered_set<uint64_t> ids;
    if (!image)
        return ids;
    auto sections = pool_sections(*image->elf);
    if (!sections)
        return tl::unexpected(sections.error());
    for (const PoolSection &section : *sections)
        for (const PoolPart &part : section.parts)
            ids.insert(part.first_id);
    return ids;
}

/// libbpf's engine takes all types as they are.
Reading reading_for(Engine engine)
{
    return engine == Engine::hash ? Reading::marked : Reading::whole;
}

/// Add the inputs that the caller makes for what has no object BTF, or that of another link.
Result<void> complete(const Options &options, const std::optional<Input> &image, Inputs &inputs,
                      Loaded &loaded)
{
    auto ids = linked_ids(image);
    if (!ids)
        return tl::unexpected(ids.error());
    auto has_pool = [](const Object &o) { return o.trailer.flags & trailer_has_pool; };
    bool pools = std::any_of(loaded.objects.begin(), loaded.objects.end(), [&](const Object &o) {
        return o.has_trailer && has_pool(o) && ids->contains(o.trailer.object_id);
    });
    std::vector<std::string_view> sources;
    for (const Object &o : loaded.objects) {
        bool covers =
            o.has_trailer && (!pools || !has_pool(o) || ids->contains(o.trailer.object_id));
        sources.push_back(covers ? o.btf.str(o.trailer.source) : std::string_view());
    }
    auto names = options.complete(sources);
    if (!names)
        return tl::unexpected(names.error());
    if (names->empty())
        return {};
    auto more = open_inputs(*names, options.threads);
    if (!more)
        return tl::unexpected(more.error());
    auto added = load(more->list, reading_for(options.engine), options.threads);
    if (!added)
        return tl::unexpected(added.error());
    for (Object &object : added->objects) {
        object.input += static_cast<uint32_t>(inputs.list.size());
        loaded.objects.push_back(std::move(object));
    }
    std::move(more->list.begin(), more->list.end(), std::back_inserter(inputs.list));
    std::move(added->without_btf.begin(), added->without_btf.end(),
              std::back_inserter(loaded.without_btf));
    std::move(added->decompressed.begin(), added->decompressed.end(),
              std::back_inserter(loaded.decompressed));
    return {};
}

/// Is there a report to be had, and no result?
bool writes_nothing(const Options &options)
{
    return options.why_dup && options.output.empty() && options.update.empty();
}

/// The objects of which a pass has looked at a type that is not in order. Those that were not
/// linked do not count: whether they were looked at is chance.
std::vector<bool> find_damaged(const std::vector<Object> &objects, const Located &located,
                               const Sources &sources)
{
    std::vector<bool> damaged(objects.size());
    for (size_t i = 0; i < objects.size(); ++i) {
        const Damage *by_link = objects[i].damage.get();
        damaged[i] =
            !located.not_linked[i] && ((by_link && by_link->found()) || sources.found_damage(i));
    }
    return damaged;
}

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// What the second half of the corridor needs of the first.
struct Gathered {
    Assembled all;               // libbpf's engine
    std::vector<std::byte> blob; // ours
    Target target;
    std::set<uint64_t> object_ids;
};

Result<Gathered> gather(const Options &options, const Base &base, Report &report, Stats &stats)
{
    // Open: response files and archives unfold into one list in link order.
    stats.begin_pass("open");
    std::optional<Result<Input>> opened;
    Beside image_opening;
    auto open_image = [&] { opened = open_input(options.image); };
    if (!options.image.empty() && options.threads > 1)
        image_opening.start(open_image);
    auto inputs = open_inputs(options.inputs, options.threads);
    image_opening.wait();
    if (!inputs)
        return tl::unexpected(inputs.error());
    RETURN_IF_ERROR(check_apart(options, *inputs));
    if (!options.image.empty() && !opened)
        open_image();
    std::optional<Input> given_image;
    if (opened) {
        if (!*opened)
            return tl::unexpected(opened->error());
        given_image = std::move(**opened);
        if (!given_image->elf)
            return fail(given_image->where, "is given as image, but is not an ELF file");
    }

    // Load: every contribution becomes an Object, checked whole. From here on input is trusted.
    stats.begin_pass("load");
    auto loaded = load(inputs->list, reading_for(options.engine), options.threads);
    if (!loaded)
        return tl::unexpected(loaded.error());
    if (options.complete)
        RETURN_IF_ERROR(complete(options, given_image, *inputs, *loaded));
    if (options.verify) {
        stats.begin_pass("verify");
        RETURN_IF_ERROR(verify_objects(inputs->list, loaded->objects, options.threads));
    }
    if (options.features.has(Feature::true_signature))
        use_true_signatures(loaded->objects);
    const std::vector<Object> &objects = loaded->objects;
    for (const std::string &name : inputs->ignored)
        report.notes.push_back(name + ": neither ELF nor BTF, skipped");
    for (const std::string &name : loaded->without_btf)
        report.notes.push_back(name + ": no BTF, skipped");
    if (objects.empty())
        return fail(named(options), options.inputs.size() == 1
                                        ? "there is no BTF in it"
                                        : "there is no BTF in any of the inputs");
    auto target = check_targets(inputs->list, objects, given_image, base);
    if (!target)
        return tl::unexpected(target.error());
    if (base.btf)
        stats.add("objects_made_flat",
                  take_form_of_base(*base.btf, loaded->objects, options.engine == Engine::hash,
                                    options.threads));
    for (std::string &text : check_settings(objects, options.features))
        report.warnings.push_back(std::move(text));
    std::set<uint64_t> object_ids;
    for (const Object &o : objects)
        if (o.has_trailer)
            object_ids.insert(o.trailer.object_id);
    stats.add("inputs", inputs->list.size());
    stats.add("inputs_without_btf", loaded->without_btf.size());
    stats.add("objects", objects.size());

    count_bytes(objects, base.btf.get(), stats);

    // Merge types, beside the passes that follow. That all objects were linked is not known yet,
    // but nearly always so; if it was not, this is done again.
    const bool hash = options.engine == Engine::hash;
    const Btf *base_btf = base.btf.get();
    const Where blamed = base_btf ? base.input->where : named(options);
    Stats type_stats;
    std::optional<Result<MergedTypes>> types;
    auto merge_all = [&](const std::vector<bool> &not_linked, unsigned threads) {
        types = merge_types(objects, not_linked, base_btf, blamed, threads, type_stats);
    };
    Beside beside;
    if (hash && options.threads > 1) // all threads: what is below is done sooner
        beside.start([&] { merge_all(std::vector<bool>(objects.size()), options.threads); });

    // Image: what the link decided, or would decide.
    stats.begin_pass("image");
    auto image_file = choose_image(given_image, inputs->list);
    if (!image_file)
        return tl::unexpected(image_file.error());
    auto image = read_image(*image_file, inputs->list, objects);
    if (!image)
        return tl::unexpected(image.error());

    // Locate: each object's variables and functions get their final addresses.
    stats.begin_pass("locate");
    Located located = locate(inputs->list, objects, *image);
    report_image(inputs->list, *image, objects, located, report, stats);

    // Select: which functions and variables the result has. From here on names are settled.
    stats.begin_pass("select_functions");
    Functions functions =
        select_functions(inputs->list, objects, *image, located, options.features);
    stats.begin_pass("select_variables");
    Variables variables = select_variables(objects, *image, located, options.features);
    report_selection(objects, functions, variables, report, stats);

    if (hash)
        stats.begin_pass("types"); // what is left of it
    beside.wait();
    if (hash) {
        if (!types || located.not_linked_count) {
            type_stats = Stats();
            merge_all(located.not_linked, options.threads);
        }
        if (!*types)
            return tl::unexpected(types->error());
        stats.append(std::move(type_stats));
        auto in_order = [&] {
            return check_marked(inputs->list, objects,
                                find_damaged(objects, located, (*types)->sources), options.threads);
        };
        if (options.why_dup) {
            stats.begin_pass("why_dup");
            report.why_dup = why_dup(objects, **types, *options.why_dup, options.base);
            if (writes_nothing(options)) {
                stats.end_pass();
                RETURN_IF_ERROR(in_order());
                return Gathered{{}, {}, *target, {}};
            }
        }
        stats.begin_pass("write_types");
        auto blob = write_types(objects, (*types)->sources, (*types)->partition, functions,
                                variables, base_btf, target->order, blamed, options.threads);
        stats.end_pass();
        RETURN_IF_ERROR(in_order());
        if (!blob)
            return tl::unexpected(blob.error());
        report.read = std::make_shared<std::tuple<Inputs, std::optional<Input>, Loaded, Image,
                                                  Located, Functions, Variables, MergedTypes>>(
            std::move(*inputs), std::move(given_image), std::move(*loaded), std::move(*image),
            std::move(located), std::move(functions), std::move(variables), std::move(**types));
        return Gathered{{}, std::move(*blob), *target, std::move(object_ids)};
    }

    // Assemble: one blob, duplicates and all.
    stats.begin_pass("assemble");
    auto all = assemble(objects, located, functions, variables, base.btf.get(), options.threads);
    if (!all)
        return tl::unexpected(all.error());
    RETURN_IF_ERROR(check_mapped_files());
    stats.add("types_in", all->types);
    stats.add("bytes_in", all->words.size() * 4 + all->strings.size());
    return Gathered{std::move(*all), {}, *target, std::move(object_ids)};
}

Result<void> run(const Options &options, Report &report, Stats &stats)
{
    const auto start = Clock::now();
    RETURN_IF_ERROR(check_options(options));
    stats.begin_pass("base");
    auto base = read_base(options.base);
    if (!base)
        return tl::unexpected(base.error());
    auto gathered = gather(options, *base, report, stats);
    if (!gathered)
        return tl::unexpected(gathered.error());
    const Target target = gathered->target;
    if (writes_nothing(options))
        return {};

    // Dedup: of equal types the first stays.
    std::vector<std::byte> blob = std::move(gathered->blob);
    if (options.engine == Engine::libbpf) {
        stats.begin_pass("dedup");
        auto left = dedup_libbpf(std::move(gathered->all), base->btf, target.order, named(options));
        if (!left)
            return tl::unexpected(left.error());
        blob = std::move(*left);
    }

    // Distil: the result continues a base of its own.
    const bool with_layout = options.features.has(Feature::layout);
    std::vector<std::byte> distilled;
    if (options.features.has(Feature::distilled_base)) {
        stats.begin_pass("distil");
        Where where{"merged BTF", "", 0};
        auto whole = Btf::parse(blob, where, base->btf);
        if (!whole)
            return tl::unexpected(whole.error());
        auto both = distil(*whole, target.order, where);
        if (!both)
            return tl::unexpected(both.error());
        blob = std::move(both->split);
        distilled = std::move(both->base);
        if (with_layout)
            add_layout(distilled, target.order, false);
        where.file = "distilled base";
        auto parsed = Btf::parse(distilled, where);
        if (!parsed)
            return tl::unexpected(parsed.error());
        RETURN_IF_ERROR(check_btf(distilled, *parsed, where, target.address_size));
        base->btf = std::make_shared<const Btf>(std::move(*parsed));
    }
    if (with_layout && base->btf)
        add_layout(blob, target.order, false);
    else if (with_layout)
        RETURN_IF_ERROR(add_layout_section(blob, target.order, report));

    // Check, then write: nothing is written that a kernel would refuse.
    RETURN_IF_ERROR(check_mapped_files());
    stats.begin_pass("check");
    RETURN_IF_ERROR(check_result(blob, *base, target, stats));
    stats.begin_pass("write");
    auto written = write_result(options, blob, distilled, target, gathered->object_ids);
    if (!written)
        return tl::unexpected(written.error());
    stats.add("bytes_written", *written);
    stats.end_pass();
    stats.add_measure("time_ms.total", Milliseconds(Clock::now() - start).count());
    return {};
}

} // namespace

Result<void> check_options(const Options &options)
{
    if (options.why_dup && options.engine != Engine::hash)
        return fail({}, "--why-dup needs --dedup=hash");
    if (!options.features.has(Feature::distilled_base))
        return {};
    if (options.base.empty())
        return fail({}, "--distilled-base needs --base");
    if (options.format == OutputFormat::object)
        return fail({}, "--distilled-base: --format=object has no place for the base");
    return {};
}

Result<void> merge(const Options &options, Report &report)
{
    std::optional<trace::File> trace;
    if (!options.time_trace.empty()) {
        auto started = trace::File::start(options.time_trace, "btf-merge");
        if (!started)
            return tl::unexpected(started.error());
        trace.emplace(std::move(*started));
    }
    Stats stats;
    trace::Phase whole("btf-merge");
    Result<void> done = run(options, report, stats);
    whole.end();
    report.stats = stats.text();
    if (!trace || !done)
        return done;
    RETURN_IF_ERROR(check_trace_apart(options)); // the result has its file only now
    return trace->write();
}

} // namespace btflink::merge

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Decides which changes libbpf's relocations repair, which changes make programs fail to load, and
// which let programs silently read wrong data.
#include "btf-kernel/diff/compare.h"
#include "common/result.h"

#include <algorithm>

namespace btflink::kernel::diff
{

namespace
{

constexpr size_t named_places = 3;
constexpr const char still_work[] = "programs that worked still do";

/// Collects effects. Equal effects at several places become one, with a list of the places.
class Effects
{
public:
    void add(Effect::Kind kind, std::string text, const std::string &place = "")
    {
        auto same = std::ranges::find_if(
            list_, [&](const Entry &e) { return e.effect.kind == kind && e.effect.text == text; });
        if (same == list_.end())
            same = list_.insert(list_.end(), Entry{{kind, std::move(text)}});
        if (!place.empty())
            same->places.push_back(place);
    }

    bool empty() const { return list_.empty(); }

    std::vector<Effect> take()
    {
        std::vector<Effect> out;
        for (Entry &e : list_) {
            if (!e.places.empty())
                e.effect.text += ": " + joined(e.places, ", ", {}, named_places);
            if (e.places.size() > named_places)
                e.effect.text += " and " + std::to_string(e.places.size() - named_places) + " more";
            out.push_back(std::move(e.effect));
        }
        // Breaking effects come first.
        std::ranges::stable_sort(
            out, [](const Effect &a, const Effect &b) { return breaks(a.kind) > breaks(b.kind); });
        return out;
    }

private:
    struct Entry {
        Effect effect;
        std::vector<std::string> places = {};
    };
    std::vector<Entry> list_;
};

constexpr const char other_size[] =
    "another size: CO-RE adjusts only direct loads of pointers and unsigned integers";

void add_type_effects(const Detail &d, Effects &out)
{
    if (!d.fits)
        out.add(Effect::Kind::core, "CO-RE does not accept the new type", d.place);
    else if (!d.same_size)
        out.add(Effect::Kind::size, other_size, d.place);
    else if (!d.same_meaning)
        out.add(Effect::Kind::pointee,
                "the type differs, or points to a type that differs; CO-RE does not notice",
                d.place);
    else
        out.add(Effect::Kind::none, "reads as before");
}

/// An effect that depends only on the kind of the detail.
struct DetailEffect {
    Detail::Kind detail;
    Effect::Kind kind;
    const char *text;
};
constexpr DetailEffect detail_effects[] = {
    {Detail::Kind::member_removed, Effect::Kind::core, "CO-RE does not find it"},
    {Detail::Kind::member_renamed, Effect::Kind::core, "CO-RE does not find the old name"},
    {Detail::Kind::member_moved, Effect::Kind::relocated, "CO-RE finds what moved"},
    {Detail::Kind::size, Effect::Kind::relocated, "CO-RE finds what moved"},
    {Detail::Kind::encoding, Effect::Kind::relocated, "CO-RE finds the field"},
    {Detail::Kind::member_bits, Effect::Kind::size,
     "other bits: only BPF_CORE_READ_BITFIELD() and its variant _PROBED read them"},
    {Detail::Kind::value_removed, Effect::Kind::core, "CO-RE does not find the enumerator"},
    {Detail::Kind::value_changed, Effect::Kind::baked,
     "programs contain the old value, unless they use bpf_core_enum_value()"},
    {Detail::Kind::value_cut, Effect::Kind::baked,
     "bpf_core_enum_value() finds the low half of the value: the new BTF was made without ENUM64"},
    {Detail::Kind::value_mended, Effect::Kind::baked,
     "programs that were compiled with the old BTF contain the low half of the value"},
};

void add_kind_effects(const Detail &d, Effects &out)
{
    if (d.fits)
        out.add(Effect::Kind::relocated, "CO-RE finds the field");
    else if (d.place.empty())
        out.add(Effect::Kind::core, "CO-RE finds no type of this kind");
    else
        out.add(Effect::Kind::core, "CO-RE does not accept the new type", d.place);
}

void add_detail_effects(const Detail &d, Effects &out)
{
    if (d.kind == Detail::Kind::member_type || d.kind == Detail::Kind::target)
        return add_type_effects(d, out);
    if (d.kind == Detail::Kind::kind)
        return add_kind_effects(d, out);
    if (d.kind == Detail::Kind::size && !d.same_size)
        return out.add(Effect::Kind::size, other_size, d.place);
    for (const DetailEffect &known : detail_effects)
        if (known.detail == d.kind)
            return out.add(known.kind, known.text, breaks(known.kind) ? d.place : "");
    out.add(Effect::Kind::none, still_work);
}

/// For each iterator, the kernel has a function bpf_iter_NAME and a struct bpf_iter__NAME. Other
/// functions with this prefix, for example bpf_iter_run_prog(), have no such struct.
bool is_iterator(const Change &change)
{
    constexpr std::string_view prefix = "bpf_iter_";
    if (!change.name.starts_with(prefix) || !change.old_side)
        return false;
    const std::string context = "bpf_iter__" + change.name.substr(prefix.size());
    return !change.old_side->find({Space::type, context}).empty();
}

void add_function_effects(const Change &change, Effects &out)
{
    const bool removed = change.what == ChangeKind::removed;
    const char *how = removed ? "is not there" : "has another signature";
    if (change.space == Space::kfunc) {
        // "may be": the verifier still accepts the call if only a number has another type.
        const char *verb = removed ? "are" : "may be";
        out.add(Effect::Kind::kfunc, strf("programs that call it %s refused: it %s", verb, how));
        return;
    }
    if (change.name.starts_with("bpf_lsm_"))
        out.add(Effect::Kind::lsm, "lsm/" + change.name.substr(8) + ": the hook " + how);
    else if (is_iterator(change))
        out.add(Effect::Kind::iterator, "iter/" + change.name.substr(9) + ": the iterator " + how);
    else
        out.add(Effect::Kind::fentry,
                removed
                    ? "fentry, fexit and fmod_ret do not find it"
                    : "fentry, fexit and fmod_ret programs get other arguments or another result");
}

bool changes_signature(const Change &change)
{
    const bool kfunc = change.space == Space::kfunc;
    return std::ranges::any_of(change.details, [&](const Detail &d) {
        switch (d.kind) {
        case Detail::Kind::tag_added:
        case Detail::Kind::tag_removed:
            return false;
        case Detail::Kind::meaning:
            return kfunc; // the verifier checks calls by the names of parameters
        case Detail::Kind::parameter_type:
        case Detail::Kind::result:
        case Detail::Kind::target: // of a tracepoint's typedef: its prototype
            return !d.same_meaning;
        default:
            return true;
        }
    });
}

void add_tracepoint_effects(const Change &change, const std::string &event, Effects &out)
{
    if (change.what == ChangeKind::removed)
        out.add(Effect::Kind::tracepoint, "tp_btf/" + event + ": the tracepoint is not there");
    else if (changes_signature(change))
        out.add(Effect::Kind::tracepoint, "tp_btf/" + event + ": it has other arguments");
    else
        out.add(Effect::Kind::none, still_work);
}

void add_changed_function_effects(const Change &change, Effects &out)
{
    const bool lost_tag =
        change.space == Space::kfunc && std::ranges::any_of(change.details, [](const Detail &d) {
            return d.kind == Detail::Kind::tag_removed && d.old_text == "bpf_kfunc";
        });
    if (lost_tag)
        out.add(Effect::Kind::kfunc, "programs do not compile with the new vmlinux.h: it does not "
                                     "declare the kfunc, which lost its tag");
    if (changes_signature(change))
        add_function_effects(change, out);
    else if (!lost_tag)
        out.add(Effect::Kind::none, still_work);
}

void add_variable_effects(const Change &change, Effects &out)
{
    constexpr const char *percpu = ".data..percpu";
    for (const Detail &d : change.details) {
        if (d.kind == Detail::Kind::tag_added || d.kind == Detail::Kind::tag_removed)
            continue;
        if (d.kind != Detail::Kind::section) {
            if (d.kind != Detail::Kind::target || !d.same_meaning)
                out.add(Effect::Kind::ksym, "programs that refer to it by __ksym see another type");
        } else if (d.old_text == percpu || d.new_text == percpu) {
            out.add(Effect::Kind::ksym, strf("programs that refer to it by __ksym get %s pointer",
                                             d.new_text == percpu ? "a per-CPU" : "an ordinary"));
        }
    }
    if (out.empty())
        out.add(Effect::Kind::none, still_work);
}

void add_struct_ops_effects(const Change &change, Effects &out)
{
    for (const Detail &d : change.details) {
        if (d.kind == Detail::Kind::member_removed || d.kind == Detail::Kind::member_renamed)
            out.add(Effect::Kind::struct_ops, "programs that set the member are refused", d.place);
        else if (d.kind == Detail::Kind::member_type && !d.same_size) // of data: libbpf copies it
            out.add(Effect::Kind::struct_ops, "programs whose struct has it are refused", d.place);
        else if (d.kind == Detail::Kind::member_type && !d.same_meaning)
            out.add(Effect::Kind::struct_ops,
                    "programs that implement it get other arguments or return another result",
                    d.place);
    }
}

void add_removed_effects(const Change &change, bool is_struct_ops, Effects &out)
{
    if (change.one_of_several)
        return out.add(Effect::Kind::none, "another definition of that name is there");
    switch (change.space) {
    case Space::constant:
        out.add(Effect::Kind::baked, "programs contain its value");
        break;
    case Space::variable:
        out.add(Effect::Kind::ksym, "programs that refer to it by __ksym are refused");
        break;
    case Space::alias:
    case Space::type:
        if (is_struct_ops)
            out.add(Effect::Kind::struct_ops, "programs that implement it are refused");
        out.add(Effect::Kind::core, "CO-RE does not find the type");
        break;
    default:
        add_function_effects(change, out);
    }
}

void add_changed_effects(const Change &change, bool is_struct_ops, Effects &out)
{
    switch (change.space) {
    case Space::function:
    case Space::kfunc:
        return add_changed_function_effects(change, out);
    case Space::variable:
        return add_variable_effects(change, out);
    case Space::constant:
        return out.add(Effect::Kind::baked, "programs contain the old value");
    default:
        break;
    }
    constexpr std::string_view event = "struct trace_event_raw_";
    for (const Detail &d : change.details) {
        add_detail_effects(d, out);
        if (change.name.starts_with(event) && d.kind == Detail::Kind::member_moved)
            out.add(Effect::Kind::tracepoint,
                    "programs at this event without CO-RE read wrong data");
    }
    if (is_struct_ops)
        add_struct_ops_effects(change, out);
}

} // namespace

std::vector<Effect> find_effects(const Change &change, bool is_struct_ops)
{
    Effects out;
    constexpr std::string_view raw_event = "btf_trace_";
    if (change.what == ChangeKind::added)
        out.add(Effect::Kind::none, still_work);
    else if (change.space == Space::alias && change.name.starts_with(raw_event) &&
             !change.one_of_several)
        add_tracepoint_effects(change, change.name.substr(raw_event.size()), out);
    else if (change.what == ChangeKind::removed)
        add_removed_effects(change, is_struct_ops, out);
    else
        add_changed_effects(change, is_struct_ops, out);
    return out.take();
}

} // namespace btflink::kernel::diff

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out how listed symbols changed, and writes this as text, Markdown or JSON.
//
// Problem. An exported function or variable reaches most types of the kernel through its prototype
// or type. Only near types matter to modules that use the symbol.
//
// Method. Search the old kernel's types from each symbol, breadth-first. The distance is the number
// of pointers on the way: a member is as near as its struct. Stop after most_reached changes. Types
// that only the new kernel has are not reached, and break nothing.
//
// Cost. At most one pass over the old kernel's types per symbol.
#include "btf-kernel/kabi/symbols.h"

#include "btf-kernel/diff/difference.h"
#include "btf-kernel/diff/types.h"
#include "common/io/json_text.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

namespace btflink::kernel::kabi
{

namespace
{

using namespace diff;

using Status = Symbol::Status;

constexpr uint32_t none = UINT32_MAX;
constexpr std::initializer_list<Space> spaces = {Space::function, Space::variable};

/// Finds the change of a symbol or type. `place`: one of Change::places. The change of a symbol is
/// at the place where the old kernel has the symbol. If a symbol moved from vmlinux into a module,
/// its removal is at place 0, and the change of its definition, if there is one, is at the module.
/// A result is an index into Difference::changes, or `none`.
class ChangeIndex
{
public:
    explicit ChangeIndex(const Difference &difference)
    {
        for (uint32_t i = 0; i < difference.changes.size(); ++i) {
            const Change &c = difference.changes[i];
            if (!c.old_side || c.space == Space::constant)
                continue;
            const bool is_type = c.space == Space::type || c.space == Space::alias;
            for (uint32_t place : c.places) {
                if (is_type)
                    by_shape_.try_emplace({number(*c.old_side, c.old_id), place}, i);
                else
                    by_name_.try_emplace({c.name, place}, i);
            }
        }
    }

    uint32_t of_symbol(const std::string &name, uint32_t place) const
    {
        const auto found = by_name_.find({name, place});
        return found == by_name_.end() ? none : found->second;
    }

    /// `side`: the BTF in `place`. If its base is vmlinux, changes of the base's types are found at
    /// place 0. Structs, unions and enums of a distilled base lack their contents, so their changes
    /// are not found.
    uint32_t of_type(const Side &side, uint32_t id, uint32_t place) const
    {
        const uint64_t key = number(side, id);
        auto found = by_shape_.find({key, place});
        if (found == by_shape_.end() && TypeId{id} < side.btf->first_id())
            found = by_shape_.find({key, 0});
        return found == by_shape_.end() ? none : found->second;
    }

private:
    static uint64_t number(const Side &side, uint32_t id)
    {
        const btf::Kind kind = side.btf->kind(TypeId{id});
        const std::string_view name = side.btf->name(TypeId{id});
        if (name.empty())
            return 0;
        const Space space = kind == btf::Kind::TYPEDEF ? Space::alias : Space::type;
        return number_of({space, plain_int_name(name)}, side.shapes.definition(id));
    }

    std::map<std::pair<uint64_t, uint32_t>, uint32_t> by_shape_; // by number() and place
    std::map<std::pair<std::string, uint32_t>, uint32_t> by_name_;
};

class Walk
{
public:
    Walk(const DefinitionRef &root, const ChangeIndex &index)
        : root_(root), side_(*root.side), index_(index)
    {
    }

    /// Adds the nearest changes of types that the root, a FUNC or VAR, reaches.
    void run(Symbol &out)
    {
        push(root_.id, none, 0);
        while (!queue_.empty()) {
            const uint32_t at = queue_.front();
            queue_.pop_front();
            if (visited_[at].done)
                continue;
            visited_[at].done = true;
            if (at != root_.id && !meet(at, out))
                return;
            expand(at);
        }
    }

private:
    struct Visit {
        uint32_t from, pointers; // the type before this one; pointers on the path
        bool done;
    };

    /// Adds the change of type `at`, if there is one and `out` does not have it yet. Returns false,
    /// and sets out.more, if `out` has no room for it.
    bool meet(uint32_t at, Symbol &out)
    {
        const uint32_t change = index_.of_type(side_, at, root_.place);
        if (change == none)
            return true;
        for (const ReachedChange &r : out.reached)
            if (r.change == change)
                return true;
        if (out.reached.size() == most_reached) {
            out.more = true;
            return false;
        }
        out.reached.push_back({change, visited_[at].pointers, path(at)});
        return true;
    }

    std::string path(uint32_t at) const
    {
        std::string text;
        for (; at != none; at = visited_.at(at).from) {
            const btf::Kind kind = side_.btf->kind(TypeId{at});
            if (kind == btf::Kind::FUNC || kind == btf::Kind::VAR ||
                kind == btf::Kind::FUNC_PROTO || kind == btf::Kind::TYPE_TAG ||
                side_.btf->name(TypeId{at}).empty())
                continue;
            text = type_name(*side_.btf, at) + (text.empty() ? "" : " > " + text);
        }
        return text;
    }

    void expand(uint32_t at)
    {
        const btf_type &t = side_.btf->type(TypeId{at});
        const bool pointer = btf::kind_of(t) == btf::Kind::PTR;
        const uint32_t pointers = visited_[at].pointers;
        btf::for_each_type_id(t, [&](uint32_t ref) { push(ref, at, pointers + pointer); });
    }

    void push(uint32_t id, uint32_t from, uint32_t pointers)
    {
        if (!id)
            return;
        auto [visit, added] = visited_.try_emplace(id, Visit{from, pointers, false});
        if (!added && (visit->second.done || visit->second.pointers <= pointers))
            return;
        visit->second = {from, pointers, false};
        if (from != none && pointers == visited_[from].pointers)
            queue_.push_front(id);
        else
            queue_.push_back(id);
    }

    const DefinitionRef root_;
    const Side &side_;
    const ChangeIndex &index_;
    std::unordered_map<uint32_t, Visit> visited_;
    // By distance. A type as near as the one before it on the path goes to the front.
    std::deque<uint32_t> queue_;
};

Symbol check_symbol(const std::string &name, const ComparedKernels &kernels,
                    const ChangeIndex &index)
{
    Symbol out{name, Status::unknown, {}, false};
    const DefinitionRef old = kernels.before.find(spaces, name);
    if (!old)
        return out;
    // The symbol is lost if the new kernel has no readable BTF of its module, or if neither its
    // place nor vmlinux has a definition of it any longer. If no other place gained a lost symbol,
    // its status is `gone`; but `unknown` if the new kernel has its module without readable BTF.
    const uint32_t own = index.of_symbol(name, old.place);
    const bool removed = own != none &&
                         kernels.difference.changes[own].what == ChangeKind::removed &&
                         !kernels.difference.changes[own].one_of_several;
    // A module of which only the old kernel has BTF is not compared: its symbols have no changes.
    const bool lost = removed || (old.place && !kernels.after.at(old.place));
    const DefinitionRef now =
        lost ? kernels.after.find(spaces, name, &kernels.before) : DefinitionRef{};
    const bool moved_unchanged = now && now.shape == old.shape;
    const uint32_t shown = now ? index.of_symbol(name, now.place) : own;
    if (shown != none && !moved_unchanged)
        out.reached.push_back({shown, 0, name});
    if (lost && !now) {
        const bool unknown = kernels.difference.has_lost_btf(old.place);
        out.status = unknown ? Status::unknown : Status::gone;
        return out;
    }
    const size_t before = out.reached.size();
    Walk(old, index).run(out);
    if ((own != none || lost) && !moved_unchanged)
        out.status = Status::signature;
    else
        out.status = out.reached.size() > before ? Status::reaches : Status::same;
    return out;
}

size_t count(const std::vector<Symbol> &symbols, Status status)
{
    return static_cast<size_t>(std::ranges::count(symbols, status, &Symbol::status));
}

std::string summary(const std::vector<Symbol> &symbols)
{
    return strf("%zu symbols: %zu gone, %zu with another signature, %zu that reach a change, "
                "%zu unchanged, %zu without BTF",
                symbols.size(), count(symbols, Status::gone), count(symbols, Status::signature),
                count(symbols, Status::reaches), count(symbols, Status::same),
                count(symbols, Status::unknown));
}

std::string distance(const ReachedChange &reached)
{
    if (reached.pointers == 0)
        return "by value";
    return reached.pointers == 1 ? "behind a pointer"
                                 : strf("behind %u pointers", reached.pointers);
}

void add_text(const Symbol &symbol, const diff::Difference &d, std::string &out)
{
    out += plain_text(symbol.name) + ": " + std::string(status_name(symbol.status)) + "\n";
    for (const ReachedChange &reached : symbol.reached) {
        const diff::Change &change = d.changes[reached.change];
        out += "    " + plain_text(reached.path) + " " +
               std::string(diff::change_kind_name(change.what));
        if (reached.path != symbol.name) {
            out += ", " + distance(reached) + "\n";
            continue;
        }
        out += "\n";
        for (const std::string &line : diff::detail_lines(change.details))
            out += "        " + line + "\n";
    }
    if (symbol.more)
        out += "    and others\n";
}

std::string texts(const std::vector<Symbol> &symbols, const Difference &difference,
                  std::initializer_list<Status> statuses)
{
    std::string out;
    for (Status status : statuses)
        for (const Symbol &symbol : symbols)
            if (symbol.status == status)
                add_text(symbol, difference, out);
    return out;
}

} // namespace

std::vector<std::string> parse_symbols(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r,";
    std::vector<std::string> names;
    while (!text.empty()) {
        std::string_view line = take_part(text, '\n');
        auto word = [&] {
            line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
            std::string_view out = line.substr(0, line.find_first_of(blanks));
            line.remove_prefix(out.size());
            return out;
        };
        std::string_view name = word();
        if (name.starts_with("0x"))
            name = word();
        if (!name.empty() && name[0] != '#' && name[0] != '[')
            names.emplace_back(name);
    }
    return names;
}

std::vector<Symbol> check_symbols(const std::vector<std::string> &names,
                                  const ComparedKernels &kernels)
{
    const ChangeIndex index(kernels.difference);
    std::vector<Symbol> out;
    for (const std::string &name : names)
        out.push_back(check_symbol(name, kernels, index));
    return out;
}

std::string_view status_name(Status status)
{
    constexpr std::string_view names[] = {"same", "reaches what changed", "another signature",
                                          "gone", "no BTF"};
    return names[static_cast<size_t>(status)];
}

std::string as_text(const std::vector<Symbol> &symbols, const diff::Difference &difference)
{
    return summary(symbols) + "\n" +
           texts(symbols, difference,
                 {Status::gone, Status::signature, Status::reaches, Status::unknown});
}

std::string as_markdown(const std::vector<Symbol> &symbols, const diff::Difference &difference)
{
    return "### Symbols\n\n" + summary(symbols) + "\n\n```\n" +
           texts(symbols, difference, {Status::gone, Status::signature, Status::reaches}) + "```\n";
}

std::string as_json(const std::vector<Symbol> &symbols, const diff::Difference &difference)
{
    auto reached = [&](const ReachedChange &r) {
        return JsonObject()
            .text("name", difference.changes[r.change].name)
            .text("path", r.path)
            .number("pointers", r.pointers)
            .result();
    };
    return json_lines(symbols, [&](const Symbol &symbol) {
        return JsonObject()
            .text("name", symbol.name)
            .text("status", status_name(symbol.status))
            .field("reached", json_array(symbol.reached, reached))
            .boolean("more", symbol.more)
            .result();
    });
}

} // namespace btflink::kernel::kabi

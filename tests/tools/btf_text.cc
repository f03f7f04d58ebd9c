// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes BTF as text, and parses this text.
#include "tests/tools/btf_text.h"

#include "common/btf/btf_builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace btflink
{

namespace
{

// Words that stand for numbers in the text, for writing and for parsing.

struct Word {
    const char *text;
    uint32_t value;
};

constexpr Word int_encodings[] = {
    {"(none)", 0}, {"SIGNED", BTF_INT_SIGNED}, {"CHAR", BTF_INT_CHAR}, {"BOOL", BTF_INT_BOOL}};
constexpr Word enum_encodings[] = {{"UNSIGNED", 0}, {"SIGNED", 1}};
constexpr Word fwd_kinds[] = {{"struct", 0}, {"union", 1}};
constexpr Word linkages[] = {{"static", 0}, {"global", 1}, {"extern", 2}};

std::string to_word(std::span<const Word> words, uint32_t value)
{
    for (const Word &word : words)
        if (word.value == value)
            return word.text;
    return strf("%u", value);
}

constexpr std::string_view anonymous = "(anon)";

std::string quoted(std::string_view name)
{
    if (name.empty())
        name = anonymous;
    else if (name == anonymous) // unescaped, this name would be read as the empty name
        return "'\\x28anon)'";
    std::string text = "'";
    for (char c : name) {
        auto byte = static_cast<unsigned char>(c);
        if (c == '\'' || c == '\\')
            (text += '\\') += c;
        else if (byte < 0x20 || byte == 0x7f)
            text += strf("\\x%02x", byte);
        else
            text += c;
    }
    return text + "'";
}

const char *third_key(btf::Kind kind)
{
    if (kind == btf::Kind::FUNC_PROTO)
        return "ret_type_id";
    return btf::kind_info(kind).third == btf::Word::ref ? "type_id" : "size";
}

/// The keys of the words in the rows `fixed` and `element` of a kind (btf::KindInfo), by index in
/// the row. A name has no key. Kinds that are not listed have no such words, or have code of their
/// own (INT, structs, unions, enums).
struct Keys {
    btf::Kind kind;
    std::array<const char *, 3> fixed, element;
};

constexpr Keys all_keys[] = {
    {btf::Kind::ARRAY, {"type_id", "index_type_id", "nr_elems"}, {}},
    {btf::Kind::FUNC_PROTO, {}, {"", "type_id"}},
    {btf::Kind::VAR, {"linkage"}, {}},
    {btf::Kind::DATASEC, {}, {"type_id", "offset", "size"}},
    {btf::Kind::DECL_TAG, {"component_idx"}, {}},
};

/// Calls visit(index, key) for each word of `row` except a name. `row`: `fixed` or `element` of
/// kind_info(kind).
template <typename Visit>
void for_each_key(btf::Kind kind, const btf::WordRow &row, Visit visit)
{
    const auto *keys = std::ranges::find(all_keys, kind, &Keys::kind);
    CHECK(keys != std::end(all_keys)); // a new kind needs an entry in all_keys
    const bool is_fixed = &row == &btf::kind_info(kind).fixed;
    for (uint32_t i = 0; i < row.count; ++i)
        if (row.roles[i] != btf::Word::name)
            visit(i, std::string_view((is_fixed ? keys->fixed : keys->element)[i]));
}

std::span<const Word> words_for(std::string_view key)
{
    return key == "linkage" ? std::span<const Word>(linkages) : std::span<const Word>();
}

std::string row_to_text(btf::Kind kind, const btf::WordRow &row, const uint32_t *words)
{
    std::string text;
    for_each_key(kind, row, [&](uint32_t i, std::string_view key) {
        text += " " + std::string(key) + "=" +
                (key == "component_idx" ? strf("%d", static_cast<int32_t>(words[i]))
                                        : to_word(words_for(key), words[i]));
    });
    return text;
}

/// True if the text of this kind has encoding= or fwd_kind= in place of kflag=.
bool kflag_has_word(btf::Kind kind)
{
    return btf::is_enum(kind) || kind == btf::Kind::FWD;
}

std::string element_to_text(const Btf &btf, const btf_type &t, const uint32_t *element)
{
    const btf::Kind kind = btf::kind_of(t);
    const btf::WordRow &row = btf::kind_info(kind).element;
    const bool kflag = btf::kflag_of(t);
    std::string text = row.name == 0 ? quoted(btf.str(element[0])) : "";
    if (btf::is_composite(kind)) {
        uint32_t offset = element[2], bits = kflag ? offset >> 24 : 0;
        if (kflag)
            offset &= 0xffffff;
        text += strf(" type_id=%u bits_offset=%u", element[1], offset);
        return bits ? text + strf(" bitfield_size=%u", bits) : text;
    }
    if (!btf::is_enum(kind)) {
        const std::string fields = row_to_text(kind, row, element);
        return row.name == 0 ? text + fields : fields.substr(1);
    }
    if (kind == btf::Kind::ENUM)
        return text + (kflag ? strf(" val=%d", static_cast<int32_t>(element[1]))
                             : strf(" val=%u", element[1]));
    auto value = uint64_t{element[2]} << 32 | element[1];
    return text + (kflag ? strf(" val=%lld", static_cast<long long>(value))
                         : strf(" val=%llu", static_cast<unsigned long long>(value)));
}

} // namespace

std::string type_to_text(const Btf &btf, TypeId id)
{
    const btf_type &t = btf.type(id);
    const btf::Kind kind_number = btf::kind_of(t);
    const btf::KindInfo &kind = btf::kind_info(kind_number);
    const uint32_t vlen = btf::vlen_of(t);
    bool kflag = btf::kflag_of(t);
    const uint32_t *tail = btf::tail_of(t);
    std::string text = strf("[%u] %s ", raw(id), kind.name) + quoted(btf.str(t.name_off));
    if (kind.third != btf::Word::unused || t.size)
        text += strf(" %s=%u", third_key(kind_number), t.size);
    if (kind_number == btf::Kind::INT)
        text +=
            strf(" bits_offset=%u nr_bits=%u encoding=", (tail[0] >> 16) & 0xff, tail[0] & 0xffff) +
            to_word(int_encodings, tail[0] >> 24);
    else if (kind.fixed.count)
        text += row_to_text(kind_number, kind.fixed, tail);
    else if (btf::is_enum(kind_number))
        text += " encoding=" + to_word(enum_encodings, kflag);
    else if (kind_number == btf::Kind::FWD)
        text += " fwd_kind=" + to_word(fwd_kinds, kflag);
    else if (kind_number == btf::Kind::FUNC)
        text += " linkage=" + to_word(linkages, vlen);
    if (kind.element.count || (vlen && kind_number != btf::Kind::FUNC))
        text += strf(" vlen=%u", vlen);
    if (kflag && !kflag_has_word(kind_number))
        text += " kflag=1";
    text += '\n';
    if (kind.element.count)
        for (uint32_t i = 0; i < vlen; ++i)
            text += '\t' +
                    element_to_text(btf, t, tail + kind.fixed.count + i * kind.element.count) +
                    '\n';
    return text;
}

std::string btf_to_text(const Btf &btf)
{
    std::string text;
    for (TypeId id : btf.ids())
        text += type_to_text(btf, id);
    return text;
}

namespace
{

/// Parses a line of the text from left to right. error() keeps the first error, and finish()
/// returns it.
class Line
{
public:
    Line(std::string_view text, Where where) : rest_(text), where_(std::move(where)) { skip(); }

    bool at_end() const { return rest_.empty(); }
    char first() const { return rest_.empty() ? '\0' : rest_[0]; }

    Failure bad(std::string what) const { return fail(where_, std::move(what)); }
    void error(std::string what)
    {
        if (!error_)
            error_ = std::move(what);
    }

    /// Parses "[12]". Precondition: first() is '['.
    uint32_t id()
    {
        size_t end = rest_.find(']');
        if (end == std::string_view::npos)
            return error("'[ID]' is not closed"), 0;
        std::string_view digits = rest_.substr(1, end - 1);
        take(end + 1);
        return number<uint32_t>(digits, "id");
    }

    /// Takes the characters up to the next white space, and this white space, from the line.
    /// Returns the characters.
    std::string_view word()
    {
        std::string_view found = rest_.substr(0, rest_.find_first_of(" \t\r"));
        take(found.size());
        return found;
    }

    /// Parses a name in single quotes. Returns it without escapes; '(anon)' is the empty name.
    std::string name()
    {
        std::string found;
        if (first() != '\'')
            return error("a name in single quotes is missing"), found;
        size_t i = 1;
        bool escaped = false;
        for (; i < rest_.size() && rest_[i] != '\''; ++i) {
            if (rest_[i] != '\\') {
                found += rest_[i];
                continue;
            }
            escaped = true;
            if (++i == rest_.size())
                break;
            unsigned code = 0;
            if (rest_[i] != 'x') {
                found += rest_[i];
            } else if (std::string_view digits = rest_.substr(i + 1, 2);
                       digits.size() == 2 &&
                       std::from_chars(digits.data(), digits.data() + 2, code, 16).ptr ==
                           digits.data() + 2 &&
                       code) {
                found += static_cast<char>(code);
                i += 2;
            } else {
                error("\\x takes two hexadecimal digits, not both 0");
            }
        }
        if (i >= rest_.size())
            return error("a name is not closed by a single quote"), found;
        take(i + 1);
        return found == anonymous && !escaped ? "" : found;
    }

    /// The value of the field KEY=VALUE, or std::nullopt. Parses all that is left of the line as
    /// fields.
    std::optional<std::string_view> find(std::string_view key)
    {
        read_fields();
        for (Field &field : fields_)
            if (field.key == key) {
                field.used = true;
                return field.value;
            }
        return std::nullopt;
    }

    /// The value of a mandatory field: a number, or the value of one of `words`. Negative numbers
    /// are returned as two's complement.
    template <typename T = uint32_t>
    T field(std::string_view key, std::span<const Word> words = {})
    {
        auto value = find(key);
        if (!value)
            return error("field " + std::string(key) + "= is missing"), T{0};
        for (const Word &word : words)
            if (*value == word.text)
                return word.value;
        return number<T>(*value, key);
    }

    /// The value of an optional field, at most `limit`; `otherwise` if the field is missing.
    uint32_t field_or(std::string_view key, uint32_t otherwise, uint32_t limit)
    {
        return find(key) ? limited(key, limit) : otherwise;
    }

    uint32_t limited(std::string_view key, uint32_t limit, std::span<const Word> words = {})
    {
        auto value = field(key, words);
        if (value > limit)
            error(std::string(key) + strf("= is more than %u", limit));
        return value;
    }

    /// The first error, if there is one. A field that find() did not look up is also an error.
    Result<void> finish()
    {
        read_fields();
        for (const Field &field : fields_)
            if (!field.used)
                error("field " + std::string(field.key) + "= does not belong here");
        if (error_)
            return bad(*error_);
        return {};
    }

private:
    struct Field {
        std::string_view key, value;
        bool used = false;
    };

    void skip()
    {
        size_t start = rest_.find_first_not_of(" \t\r");
        rest_ = start == std::string_view::npos ? "" : rest_.substr(start);
    }
    void take(size_t count)
    {
        rest_.remove_prefix(count);
        skip();
    }
    void read_fields()
    {
        while (!rest_.empty()) {
            std::string_view field = word();
            size_t equals = field.find('=');
            if (equals == std::string_view::npos)
                error("'" + std::string(field) + "' is not KEY=VALUE");
            else
                fields_.push_back({field.substr(0, equals), field.substr(equals + 1)});
        }
    }

    template <typename T>
    T number(std::string_view text, std::string_view what)
    {
        bool negative = text.starts_with('-');
        std::string_view digits = text.substr(negative);
        int base = digits.starts_with("0x") ? 16 : 10;
        if (base == 16)
            digits.remove_prefix(2);
        T value = 0;
        auto [end, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
        constexpr T most_negative = T{1} << (sizeof(T) * 8 - 1);
        if (digits.empty() || code != std::errc() || end != digits.data() + digits.size() ||
            (negative && value > most_negative))
            error(std::string(what) + ": '" + std::string(text) + "' is not a number that fits");
        return negative ? T{0} - value : value;
    }

    std::string_view rest_;
    Where where_;
    std::vector<Field> fields_;
    std::optional<std::string> error_;
};

/// The line without its comment. '#' inside quotes does not begin a comment.
std::string_view without_comment(std::string_view line)
{
    bool quote = false;
    for (size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\' && quote)
            ++i;
        else if (line[i] == '\'')
            quote = !quote;
        else if (line[i] == '#' && !quote)
            return line.substr(0, i);
    }
    return line;
}

/// Parses a text. Collects the words of a type until the next type or the end of the text, then
/// passes them to the builder.
class Parser
{
public:
    Parser(const Where &where, const Btf *base)
        : where_(where), builder_(base ? base->end_id() : TypeId{1},
                                  base ? base->str_base() + base->str_size() : 0)
    {
    }

    Result<std::vector<std::byte>> run(std::string_view text, ByteOrder order)
    {
        for (uint64_t number = 1; !text.empty(); ++number) {
            std::string_view whole = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(whole.size() + 1, text.size()));
            Line line(without_comment(whole), where_.at(number));
            if (line.at_end())
                continue;
            if (line.first() == '[') {
                TRY(finish_type());
                type_line_ = number;
                type(line);
            } else {
                if (words_.empty() || !btf::kind_info(kind_).element.count)
                    return line.bad("an element, but not after a type that has elements");
                element(line);
            }
            TRY(line.finish());
        }
        TRY(finish_type());
        return builder_.serialize(order);
    }

private:
    void type(Line &line)
    {
        if (uint32_t id = line.id(), next = raw(builder_.next_id()); id != next)
            line.error(strf("id is %u, must be %u", id, next));
        std::string_view kind_name = line.word();
        const auto *found = std::find_if(std::begin(btf::kinds) + 1, std::end(btf::kinds),
                                         [&](const auto &k) { return k.name == kind_name; });
        kind_ = btf::Kind::VOID;
        if (found == std::end(btf::kinds))
            return line.error("'" + std::string(kind_name) + "' is not a kind of type");
        const btf::KindInfo &kind = *found;
        kind_ = static_cast<btf::Kind>(found - std::begin(btf::kinds));
        uint32_t name = raw(builder_.str(line.name()));
        uint32_t third = kind.third == btf::Word::unused ? line.field_or("size", 0, UINT32_MAX)
                                                         : line.field(third_key(kind_));
        std::vector<uint32_t> fixed;
        kflag_ = kflag_has_word(kind_) ? false : line.field_or("kflag", 0, 1);
        if (kind_ == btf::Kind::INT)
            fixed = {line.limited("encoding", 0xff, int_encodings) << 24 |
                     line.limited("bits_offset", 0xff) << 16 | line.limited("nr_bits", 0xffff)};
        else if (kind.fixed.count)
            row(line, kind.fixed, fixed);
        else if (btf::is_enum(kind_))
            kflag_ = line.limited("encoding", 1, enum_encodings);
        else if (kind_ == btf::Kind::FWD)
            kflag_ = line.limited("fwd_kind", 1, fwd_kinds);
        if (kind_ == btf::Kind::FUNC)
            vlen_ = line.limited("linkage", btf::max_vlen, linkages);
        else if (kind.element.count && !line.find("vlen"))
            vlen_.reset(); // finish_type() takes the number of elements instead
        else
            vlen_ = line.field_or("vlen", 0, btf::max_long_vlen);
        elements_ = 0;
        words_ = {name, 0, third};
        words_.insert(words_.end(), fixed.begin(), fixed.end());
    }

    void row(Line &line, const btf::WordRow &row, std::vector<uint32_t> &out)
    {
        for_each_key(kind_, row, [&](uint32_t, std::string_view key) {
            out.push_back(line.field(key, words_for(key)));
        });
    }

    void element(Line &line)
    {
        ++elements_;
        const btf::WordRow &words = btf::kind_info(kind_).element;
        if (words.name == 0)
            words_.push_back(raw(builder_.str(line.name())));
        if (btf::is_composite(kind_)) {
            words_.push_back(line.field("type_id"));
            uint32_t offset = line.limited("bits_offset", kflag_ ? 0xffffff : UINT32_MAX);
            uint32_t bits = line.field_or("bitfield_size", 0, kflag_ ? 0xff : 0);
            words_.push_back(bits << 24 | offset);
        } else if (kind_ == btf::Kind::ENUM) {
            words_.push_back(line.field("val"));
        } else if (kind_ == btf::Kind::ENUM64) {
            auto value = line.field<uint64_t>("val");
            words_.push_back(static_cast<uint32_t>(value));
            words_.push_back(static_cast<uint32_t>(value >> 32));
        } else {
            row(line, words, words_);
        }
    }

    Result<void> finish_type()
    {
        if (words_.empty())
            return {};
        bool counted = btf::kind_info(kind_).element.count;
        uint32_t vlen = vlen_.value_or(elements_);
        if (counted && (vlen != elements_ || vlen > btf::max_long_vlen))
            return fail(where_.at(type_line_),
                        strf("vlen is %u, but %u elements follow", vlen, elements_));
        words_[1] = btf::make_info(kind_, vlen, kflag_);
        builder_.add_words(words_);
        words_.clear();
        return {};
    }

    const Where &where_;
    BtfBuilder builder_;
    std::vector<uint32_t> words_; // words of the current type; empty: no type
    btf::Kind kind_ = btf::Kind::VOID;
    bool kflag_ = false;
    std::optional<uint32_t> vlen_;
    uint32_t elements_ = 0;
    uint64_t type_line_ = 0;
};

} // namespace

Result<std::vector<std::byte>> text_to_btf(std::string_view text, const Where &where,
                                           ByteOrder order, const Btf *base)
{
    return Parser(where, base).run(text, order);
}

} // namespace btflink

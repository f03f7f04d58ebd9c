// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests how mend_btf() changes types that kernels would refuse.
#include "common/btf/btf_check.h"
#include "tests/unit/text_blob.h"

namespace btflink::test
{

namespace
{

constexpr std::string_view prelude = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] FLOAT 'double' size=8
    [3] FWD 'fwd' fwd_kind=struct
    [4] ENUM64 'wide' size=8 encoding=SIGNED
        'W' val=-5000000000
    [5] FUNC_PROTO '' ret_type_id=0
        'p' type_id=1
)";

/// Mends the prelude followed by `text`, and checks that kernels accept the result. Returns the
/// mended types from id 6 on ("nothing": none is left), or "" if mend_btf() changes nothing. With a
/// base: mends `text` alone, and returns all of its types.
std::string mended(std::string_view text, std::vector<std::string> *changes = nullptr,
                   std::shared_ptr<const Btf> base = nullptr)
{
    const TextBlob blob =
        from_text(base ? std::string(text) : std::string(prelude) + std::string(text), base);
    auto after = mend_btf(*blob, 8);
    if (!after)
        return "";
    if (changes)
        *changes = after->changes;
    const std::vector<std::byte> bytes = after->btf.serialize(host_order);
    auto btf = Btf::parse(bytes, Where{"mended"}, base);
    EXPECT_EQ(error_of(btf), "");
    EXPECT_EQ(error_of(check_btf(bytes, *btf, Where{"mended"})), "");
    std::string out = btf_to_text(*btf);
    const size_t own = out.find(base ? "[" : "[6]");
    return own == out.npos ? "nothing" : out.substr(own);
}

/// The types of a builder, parsed.
TextBlob parsed(const BtfBuilder &builder, std::shared_ptr<const Btf> base = nullptr)
{
    TextBlob blob;
    blob.bytes = std::make_unique<std::vector<std::byte>>(builder.serialize(host_order));
    auto btf = Btf::parse(*blob.bytes, Where{"blob"}, std::move(base));
    EXPECT_EQ(error_of(btf), "");
    blob.btf = std::make_shared<const Btf>(std::move(*btf));
    return blob;
}

/// The types of `text`, whose ids begin with 6, in the form of btf_to_text().
std::string plain(std::string_view text)
{
    const TextBlob blob = from_text(std::string(prelude) + std::string(text));
    const std::string out = btf_to_text(*blob);
    return out.substr(out.find("[6]"));
}

TEST(BtfMend, ValidTypesStay)
{
    EXPECT_EQ(mended("[6] STRUCT 's' size=4\n'm' type_id=1 bits_offset=0"), "");
}

/// Neither a PTR whose vlen is not 0 nor a struct that contains itself can be mended.
TEST(BtfMend, DamageStays)
{
    EXPECT_EQ(mended("[6] PTR '' type_id=1 vlen=3"), "");
    EXPECT_EQ(mended("[6] STRUCT 's' size=4\n'm' type_id=6 bits_offset=0"), "");
}

TEST(BtfMend, Names)
{
    std::vector<std::string> changes;
    EXPECT_EQ(mended("[6] STRUCT 'gr\\xc3\\xb6\\xc3\\x9fe' size=4\n'l$\\xc3\\xa4nge' type_id=1 "
                     "bits_offset=0\n"
                     "[7] TYPEDEF '9x' type_id=6",
                     &changes),
              plain("[6] STRUCT 'gr__e' size=4\n'l__nge' type_id=1 bits_offset=0\n"
                    "[7] TYPEDEF '_9x' type_id=6"));
    ASSERT_EQ(changes.size(), 3u);
    EXPECT_TRUE(changes[0].ends_with("name is not an identifier: it is renamed to 'gr__e'"))
        << changes[0];
    EXPECT_EQ(changes[1],
              "type 7 (TYPEDEF '9x'): name is not an identifier: it is renamed to '_9x'");
    // A function cannot get another name, so it is left out, with its tag.
    EXPECT_EQ(
        mended("[6] FUNC 'a b' type_id=5 linkage=static\n[7] FUNC 'c' type_id=5 linkage=static\n"
               "[8] DECL_TAG 't' type_id=6 component_idx=-1\n"
               "[9] DECL_TAG 't' type_id=7 component_idx=-1"),
        plain("[6] FUNC 'c' type_id=5 linkage=static\n"
              "[7] DECL_TAG 't' type_id=6 component_idx=-1"));
}

/// The new names do not fit into a StringTable. The illegal names need only 3 MB of the base,
/// because they are tails of longer strings.
TEST(BtfMend, NewNamesThatDoNotFit)
{
    constexpr uint32_t strings = 4200, numbers = 96, tails = 32;
    BtfBuilder base_types;
    const TypeId integer = base_types.add_int("int", 4, BTF_INT_SIGNED);
    std::vector<StrOff> names;
    for (uint32_t i = 0; i < strings; ++i) {
        std::string text;
        for (uint32_t k = 0; k < numbers; ++k)
            text += strf("$%07u", i * numbers + k);
        const uint32_t at = raw(base_types.str(text));
        for (uint32_t k = 0; k < tails; ++k)
            names.push_back(StrOff{at + k * 8});
    }
    const TextBlob base = parsed(base_types);
    BtfBuilder types(base_types.next_id(), static_cast<uint32_t>(base_types.string_bytes()));
    for (size_t i = 0; i < names.size(); ++i) {
        if (i % 50'000 == 0)
            types.add_enum(btf::Kind::ENUM, StrOff{0}, 4, false);
        types.add_enumerator(names[i], i);
    }
    types.add_ref(btf::Kind::TYPEDEF, names[0], integer); // the table is full before its turn
    const TextBlob split = parsed(types, base.btf);
    EXPECT_FALSE(mend_btf(*split, 8));
}

/// Kernels do not read names beyond the first 16 MB of strings. The FUNC is not silently left out.
TEST(BtfMend, NameBeyondTheLimit)
{
    BtfBuilder base_types;
    base_types.add_int("int", 4, BTF_INT_SIGNED);
    for (uint32_t i = 0; i < 17'000; ++i)
        base_types.str(strf("n%07u", i) + std::string(992, 'n'));
    const TextBlob base = parsed(base_types);
    BtfBuilder types(base_types.next_id(), static_cast<uint32_t>(base_types.string_bytes()));
    types.add_func("f", types.add_func_proto(void_id), BTF_FUNC_STATIC);
    const TextBlob split = parsed(types, base.btf);
    EXPECT_FALSE(mend_btf(*split, 8));
}

TEST(BtfMend, Members)
{
    // Member f is left out, and so is its tag. The tag of member b gets the new index of b.
    EXPECT_EQ(
        mended("[6] STRUCT 's' size=8\n'a' type_id=1 bits_offset=0\n'f' type_id=3 bits_offset=32\n"
               "'b' type_id=1 bits_offset=32\n"
               "[7] DECL_TAG 'f' type_id=6 component_idx=1\n"
               "[8] DECL_TAG 'b' type_id=6 component_idx=2"),
        plain("[6] STRUCT 's' size=8\n'a' type_id=1 bits_offset=0\n'b' type_id=1 bits_offset=32\n"
              "[7] DECL_TAG 'b' type_id=6 component_idx=1"));
    EXPECT_EQ(
        mended("[6] STRUCT 's' size=8\n'b' type_id=1 bits_offset=32\n'a' type_id=1 bits_offset=0\n"
               "[7] DECL_TAG 'b' type_id=6 component_idx=0"),
        plain("[6] STRUCT 's' size=8\n'a' type_id=1 bits_offset=0\n'b' type_id=1 bits_offset=32\n"
              "[7] DECL_TAG 'b' type_id=6 component_idx=1"));
    EXPECT_EQ(mended("[6] STRUCT 's' size=16 kflag=1\n"
                     "'e' type_id=4 bits_offset=0 bitfield_size=40\n'd' type_id=2 bits_offset=40"),
              plain("[6] STRUCT 's' size=16 kflag=1\n"
                    "'e' type_id=7 bits_offset=0 bitfield_size=40\n'd' type_id=8 bits_offset=40\n"
                    "[7] INT 'long long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED\n"
                    "[8] INT 'double' size=8 bits_offset=0 nr_bits=64 encoding=(none)"));
}

/// In a struct with kflag, bpf() counts an enum of 1 or 2 bytes as 4 bytes, and so refuses it near
/// the end of the struct. Kernels do not check their own BTF for this, so such a member stays
/// unless its real size is too large.
TEST(BtfMend, ShortEnums)
{
    constexpr const char *enums = "\n[7] ENUM 'byte' size=1 encoding=UNSIGNED\n'A' val=0\n"
                                  "[8] ENUM 'two' size=2 encoding=SIGNED\n'B' val=-1\n"
                                  "[9] TYPEDEF 'two_t' type_id=8\n";
    auto with = [&](const char *text) { return std::string(text) + enums; };
    EXPECT_EQ(mended(with("[6] STRUCT 's' size=2 kflag=1\n'a' type_id=7 bits_offset=0\n"
                          "'b' type_id=1 bits_offset=8 bitfield_size=4")),
              "");
    EXPECT_EQ(mended(with("[6] UNION 'u' size=2 kflag=1\n'a' type_id=9 bits_offset=0\n"
                          "'b' type_id=1 bits_offset=0 bitfield_size=4")),
              "");
    EXPECT_EQ(mended(with("[6] STRUCT 's' size=1 kflag=1\n'a' type_id=9 bits_offset=0")),
              plain(with("[6] STRUCT 's' size=1 kflag=1")));
}

/// The struct has more wrong members than mend_btf() has rounds. All are dropped, because the ninth
/// is dropped with all later ones.
TEST(BtfMend, ManyMembers)
{
    std::string members;
    for (int i = 0; i < 1000; ++i)
        members += "'m" + std::to_string(i) + "' type_id=1 bits_offset=0\n";
    EXPECT_EQ(mended("[6] STRUCT 's' size=0\n" + members), plain("[6] STRUCT 's' size=0"));
}

/// Up to eight wrong members are dropped one by one, in a round each. The ninth is dropped with all
/// later ones. Each struct has its own count: 'late' has one wrong member, which is found only when
/// those of 'early' are gone. When the empty tag is dropped, the structs get other ids, but keep
/// their counts.
TEST(BtfMend, DropsAreCountedPerType)
{
    auto text = [](int wrong) {
        std::string out = "[6] DECL_TAG '' type_id=7 component_idx=-1\n"
                          "[7] STRUCT 'early' size=8\n";
        for (int i = 0; i < wrong; ++i)
            out += "'w' type_id=1 bits_offset=96\n";
        return out + "'good' type_id=4 bits_offset=0\n"
                     "[8] STRUCT 'late' size=24\n"
                     "'w' type_id=9 bits_offset=8\n"
                     "'good' type_id=1 bits_offset=128\n"
                     "[9] FLOAT 'unaligned' size=12";
    };
    constexpr std::string_view late = "[7] STRUCT 'late' size=24\n"
                                      "'good' type_id=1 bits_offset=128\n"
                                      "[8] FLOAT 'unaligned' size=12";
    EXPECT_EQ(mended(text(8)), plain("[6] STRUCT 'early' size=8\n'good' type_id=4 bits_offset=0\n" +
                                     std::string(late)));
    EXPECT_EQ(mended(text(9)), plain("[6] STRUCT 'early' size=8\n" + std::string(late)));
}

/// One round mends the types and lengths of all members of a struct.
TEST(BtfMend, ManyUnalignedMembers)
{
    auto text = [](int type, int bits) {
        std::string out = "[6] STRUCT 's' size=2000 kflag=1\n";
        for (int i = 0; i < 200; ++i)
            out += "'d' type_id=" + std::to_string(type) +
                   " bits_offset=" + std::to_string(8 + i * 64) + "\n";
        return out + "'aligned' type_id=2 bits_offset=12864\n" + //
               "'b' type_id=1 bits_offset=12928 bitfield_size=" + std::to_string(bits) + "\n";
    };
    std::vector<std::string> changes;
    EXPECT_EQ(
        mended(text(2, 40), &changes),
        plain(text(7, 32) + "[7] INT 'double' size=8 bits_offset=0 nr_bits=64 encoding=(none)"));
    EXPECT_EQ(
        changes,
        std::vector<std::string>{
            "type 6 (STRUCT 's'): member 0 'd': FLOAT at bit offset 8 is not aligned: its "
            "type becomes an INT of the same name; later members that are changed, too: 200"});
}

TEST(BtfMend, Types)
{
    // In order: char as gcc 12 writes it (SIGNED and CHAR), an INT with more bits than kernels
    // read, enums of 3 bytes, an array of more than 4 GB, tags without text, an illegal name.
    EXPECT_EQ(mended("[6] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=3"),
              plain("[6] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED"));
    EXPECT_EQ(mended("[6] INT 'big' size=32 bits_offset=0 nr_bits=200 encoding=(none)"),
              plain("[6] STRUCT '' size=32"));
    EXPECT_EQ(mended("[6] ENUM 'e' size=3 encoding=UNSIGNED\n'A' val=0"),
              plain("[6] STRUCT 'e' size=3"));
    EXPECT_EQ(mended("[6] ENUM '' size=3 encoding=UNSIGNED\n'A' val=0"),
              plain("[6] STRUCT '' size=3"));
    EXPECT_EQ(mended("[6] ARRAY '' type_id=1 index_type_id=1 nr_elems=4000000000"),
              plain("[6] STRUCT '' size=0"));
    EXPECT_EQ(mended("[6] TYPE_TAG '' type_id=1\n[7] DECL_TAG '' type_id=5 component_idx=-1"),
              plain("[6] TYPE_TAG '_' type_id=1"));
    EXPECT_EQ(mended("[6] FWD 'a b' fwd_kind=union\n[7] PTR '' type_id=6"),
              plain("[6] FWD 'a_b' fwd_kind=union\n[7] PTR '' type_id=6"));
}

/// The enumerator BTF_MAX_VLEN shows how many elements of a type the kernel reads. A value below
/// 65,535 counts as 65,535.
TEST(BtfMend, ManyElements)
{
    auto text = [](const std::string &name, int count, int most) {
        std::string out = "[6] ENUM 'btf_max' size=4 encoding=UNSIGNED\n'BTF_MAX_VLEN' val=" +
                          std::to_string(most) + "\n[7] ENUM '" + name +
                          "' size=4 encoding=UNSIGNED\n";
        for (int i = 0; i < count; ++i)
            out += "'e" + std::to_string(i) + "' val=" + std::to_string(i) + "\n";
        return out;
    };
    EXPECT_TRUE(mended(text("a$b", 70'000, 80'000)) == plain(text("a_b", 70'000, 80'000)));
    EXPECT_TRUE(mended(text("a$b", 70'001, 70'000)) == plain(text("a_b", 70'000, 70'000)));
    std::vector<std::string> changes;
    EXPECT_TRUE(mended(text("ab", 70'000, 1), &changes) == plain(text("ab", 65'535, 1)));
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_TRUE(changes[0].ends_with(": all elements after the first 65535 are left out"))
        << changes[0];
}

TEST(BtfMend, ModifierChain)
{
    // Chains of 40 modifiers. Kernels follow up to 32.
    for (std::string kind : {"TYPEDEF 't'", "CONST ''"}) {
        std::string text;
        for (int id = 6; id < 46; ++id)
            text += "[" + std::to_string(id) + "] " + kind +
                    " type_id=" + std::to_string(id < 45 ? id + 1 : 1) + "\n";
        EXPECT_NE(mended(text), "");
    }
}

TEST(BtfMend, Prototypes)
{
    std::vector<std::string> changes;
    constexpr std::string_view rest = "\n'p' type_id=7\n'q' type_id=7\n"
                                      "[7] CONST '' type_id=3\n[8] VOLATILE '' type_id=0";
    EXPECT_EQ(mended("[6] FUNC_PROTO '' ret_type_id=8" + std::string(rest), &changes),
              plain("[6] FUNC_PROTO '' ret_type_id=0" + std::string(rest)));
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_TRUE(changes[1].starts_with("struct fwd is passed or returned by value")) << changes[1];
    // The base cannot be changed, so the definition is added to the split BTF.
    const TextBlob base = from_text("[1] FWD 'fwd' fwd_kind=union");
    EXPECT_EQ(
        mended("[2] FUNC_PROTO '' ret_type_id=0\n'p' type_id=1", nullptr, base.btf),
        "[2] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1\n\t'p' type_id=3\n[3] UNION 'fwd' size=0 "
        "vlen=0\n");
}

/// The split BTF already has the union without members that mend_btf() would otherwise add.
TEST(BtfMend, PrototypeWithDeclarationOfBase)
{
    const TextBlob base = from_text("[1] FWD 'fwd' fwd_kind=union");
    const TextBlob split = from_text(
        "[2] UNION 'fwd' size=0\n[3] FUNC_PROTO '' ret_type_id=0\n'p' type_id=1", base.btf);
    // The union's name is a string of the base.
    store(split.bytes->data() + btf::header_size, base->type(TypeId{1}).name_off, host_order);
    auto btf = Btf::parse(*split.bytes, Where{"split"}, base.btf);
    const auto after = mend_btf(*btf, 8);
    ASSERT_TRUE(after);
    ASSERT_EQ(after->changes.size(), 1u);
    EXPECT_TRUE(after->changes[0].starts_with("union fwd is passed or returned by value"))
        << after->changes[0];
    const auto bytes = after->btf.serialize(host_order);
    btf = Btf::parse(bytes, Where{"mended"}, base.btf);
    EXPECT_EQ(btf_to_text(*btf), "[2] UNION 'fwd' size=0 vlen=0\n"
                                 "[3] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1\n\t'p' type_id=2\n");
}

TEST(BtfMend, Variables)
{
    EXPECT_EQ(
        mended("[6] VAR 'v' type_id=3 linkage=global\n[7] VAR 'w' type_id=1 linkage=global\n"
               "[8] DATASEC '.data' size=8\ntype_id=6 offset=0 size=4\ntype_id=7 offset=4 size=4"),
        plain("[6] VAR 'w' type_id=1 linkage=global\n"
              "[7] DATASEC '.data' size=8\ntype_id=6 offset=4 size=4"));
}

/// Of the types of an object, mend_btf() drops only DECL_TAGs and DATASECs without entries. A
/// declared struct stays a declaration, because another object may define it.
TEST(BtfMend, ObjectsKeepDeclarationsAndVariables)
{
    for (const char *text : {"[6] FUNC_PROTO '' ret_type_id=0\n'p' type_id=3",
                             "[6] VAR 'a b' type_id=1 linkage=global"}) {
        const TextBlob blob = from_text(std::string(prelude) + text);
        const std::vector<bool> all(6, true);
        EXPECT_FALSE(mend_btf(*blob, 8, &all)) << text;
    }
}

/// Type 7, which is not suspect, has a wrong member. A check of all types would end with the pass
/// that finds this member, before the pass that finds the FLOAT in type 8. The FLOAT is mended all
/// the same.
TEST(BtfMend, OnlySuspectTypesOfObjects)
{
    const std::string long_name(600, 'n');
    const TextBlob blob = from_text(std::string(prelude) +
                                    "[6] CONST '' type_id=0\n"
                                    "[7] STRUCT 'outside' size=4\n'm' type_id=1 bits_offset=64\n"
                                    "[8] STRUCT '" +
                                    long_name +
                                    "' size=9\n'd' type_id=2 bits_offset=8\n"
                                    "[9] FUNC_PROTO '' ret_type_id=6");
    std::vector<bool> suspects(9);
    suspects[7] = true;
    const auto after = mend_btf(*blob, 8, &suspects);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->changes.size(), 1u);
    const Btf view = after->btf.view();
    EXPECT_EQ(btf::vlen_of(view.type(TypeId{7})), 1u);
    EXPECT_EQ(view.name(TypeId{8}), long_name);
    EXPECT_EQ(view.type(TypeId{9}).type, 6u);
}

} // namespace

} // namespace btflink::test

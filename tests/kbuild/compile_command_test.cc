// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests read_compile_command(): which objects a command writes, which of them btf-cc leaves alone,
// and whether the command asks for DWARF.
#include "kbuild-integration/btf-cc/compile_command.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace btflink::kbuild
{

namespace
{

using Words = std::vector<std::string>;

Words objects(const Words &words)
{
    return read_compile_command(words).objects;
}

TEST(CompileCommand, OutputIsNamed)
{
    EXPECT_EQ(objects({"-c", "a.c", "-o", "b.o"}), Words{"b.o"});
    EXPECT_EQ(objects({"-ob.o", "-c", "a.c"}), Words{"b.o"});
    EXPECT_EQ(objects({"--output=b.o", "-c", "a.c"}), Words{"b.o"});
    EXPECT_EQ(objects({"--compile", "a.c", "--output", "b.o"}), Words{"b.o"});
    EXPECT_EQ(objects({"-c", "a.c", "-o", "-c"}), Words{"-c"});
    EXPECT_EQ(objects({"-c", "x/a.c", "-o", "a.c"}), Words{"a.c"});
    EXPECT_EQ(objects({"-c", "a.c", "-o", "b.o", "-o", "c.o"}), Words{"c.o"});
    EXPECT_EQ(objects({"-c", "a.c", "-objcmt-migrate-all"}), Words{"a.o"});
}

TEST(CompileCommand, OutputIsNotNamed)
{
    EXPECT_EQ(objects({"-c", "a.c", "sub/b.S", "../c.tar.cc"}), (Words{"a.o", "b.o", "c.tar.o"}));
    for (const char *suffix :
         {"mm", "cppm", "for", "F95", "f08", "adb", "ads", "d", "go", "mod", "ll"})
        EXPECT_EQ(objects({"-c", std::string("a.") + suffix}), Words{"a.o"}) << suffix;
    EXPECT_EQ(objects({"-c", "a.o", "lib.a", "a.h"}), Words{});
    EXPECT_EQ(objects({"-c", "--", "-a.c"}), Words{"-a.o"});
    // The compiler refuses an option without its value.
    for (const char *option : {"-o", "--output", "-x", "-D", "-isystem"})
        EXPECT_EQ(objects({"-c", "a.c", option}), Words{}) << option;
    EXPECT_EQ(objects({"-c"}), Words{});
    EXPECT_EQ(objects({}), Words{});
}

TEST(CompileCommand, AsksForDwarf)
{
    auto asks = [](Words words) {
        words.insert(words.begin(), {"-c", "a.c"});
        return read_compile_command(words).asks_for_dwarf;
    };
    for (const char *word : {"-g", "-g1", "-g3", "-ggdb", "-ggdb3", "-gdwarf-5", "-gdwarf"})
        EXPECT_TRUE(asks({word})) << word;
    for (const char *word : {"-g0", "-gz", "-gbtf", "-gsplit-dwarf", "-gno-column-info", "-O2",
                             "-gdwarf32", "-ggdb0", "-gdwarf-aranges"})
        EXPECT_FALSE(asks({word})) << word;
    EXPECT_FALSE(asks({"-g", "-g0"}));
    EXPECT_TRUE(asks({"-g0", "-g", "-gz=zlib"}));
    EXPECT_FALSE(asks({"-g", "b.S"}));
    EXPECT_FALSE(asks({"-g", "-xassembler-with-cpp"}));
    EXPECT_FALSE(asks({"-g", "-x", "assembler"}));
}

TEST(CompileCommand, SlimLto)
{
    auto is_slim = [](Words words) {
        words.insert(words.begin(), {"-c", "a.c"});
        return read_compile_command(words).slim_lto;
    };
    for (const char *word : {"-flto", "-flto=thin", "-flto=2"})
        EXPECT_TRUE(is_slim({word})) << word;
    EXPECT_FALSE(is_slim({"-flto-partition=none"})); // has no effect without -flto
    EXPECT_FALSE(is_slim({"-flto", "-fno-lto"}));
    EXPECT_FALSE(is_slim({"-flto", "-ffat-lto-objects"}));
}

TEST(CompileCommand, LanguageIsGiven)
{
    EXPECT_EQ(objects({"-c", "a.txt"}), Words{});
    EXPECT_EQ(objects({"-x", "c", "-c", "a.txt", "plain"}), (Words{"a.o", "plain.o"}));
    EXPECT_EQ(objects({"-xc", "-c", "a.txt"}), Words{"a.o"});
    EXPECT_EQ(objects({"-xc", "a.x", "-xnone", "-c", "b.x"}), Words{"a.o"});
    EXPECT_EQ(objects({"-x", "c", "a.x", "-x", "none", "-c", "b.x"}), Words{"a.o"});
    EXPECT_EQ(objects({"--language", "c", "-c", "a.x"}), Words{"a.o"});
    EXPECT_EQ(objects({"--language=c", "-c", "a.x", "--language=none", "b.x"}), Words{"a.o"});
}

/// The words after a launcher such as ccache. They begin with the compiler or another launcher.
TEST(CompileCommand, Launchers)
{
    EXPECT_EQ(objects({"gcc", "-c", "a.c"}), Words{"a.o"});
    EXPECT_EQ(objects({"distcc", "/usr/bin/gcc-12", "-c", "a.c", "-o", "b.o"}), Words{"b.o"});
}

TEST(CompileCommand, MakesNoObject)
{
    for (const char *option :
         {"-E", "-S", "-M", "-MM", "-###", "-fsyntax-only", "--analyze", "--preprocess",
          "--assemble", "--dependencies", "--user-dependencies", "-emit-llvm", "-emit-ast"}) {
        EXPECT_EQ(objects({option, "-c", "a.c", "-o", "b.o"}), Words{}) << option;
        EXPECT_EQ(objects({"-c", "a.c", "-o", "b.o", option}), Words{}) << option;
        EXPECT_EQ(objects({"-c", "a.c", option}), Words{}) << option;
    }
    EXPECT_EQ(objects({"-xc-header", "-c", "a.c"}), Words{});
    EXPECT_EQ(objects({"-o", "prog", "a.c", "b.o"}), Words{});
    EXPECT_EQ(objects({"-c", "a.c", "-o", "-"}), Words{});
    EXPECT_EQ(objects({"-c", "-x", "c", "/dev/null", "-o", "tmp.o"}), Words{});
    EXPECT_EQ(objects({"-c", "-x", "c", "-", "-o", "/dev/null"}), Words{});
    EXPECT_EQ(objects({"-c", "-x", "c", "-", "-o", "a.o"}), Words{});
    EXPECT_EQ(objects({"-c", "-x", "assembler-with-cpp", "-o", "a.o", "-"}), Words{});
    EXPECT_EQ(objects({"-g", "-c", "-x", "c", "-", "-o", "a.o"}), Words{"a.o"});
    EXPECT_EQ(objects({"-g", "-c", "-x", "c", "-"}), Words{"-.o"});
    for (const char *language : {"c-header", "c++-system-header", "c-header-cpp-output"})
        EXPECT_EQ(objects({"-c", "-x", language, "a.c"}), Words{}) << language;
}

/// The value of an option must not be taken for an option or a file.
TEST(CompileCommand, ValuesOfOptions)
{
    for (
        const char *option :
        {"-D",         "-U",     "-I",      "-include", "-imacros",    "-isystem",       "-iquote",
         "-idirafter", "-MF",    "-MT",     "-MQ",      "-Xassembler", "-Xpreprocessor", "-Xlinker",
         "-Xclang",    "-mllvm", "-target", "--param",  "-B",          "--sysroot",      "-T",
         "-u",         "-L",     "-l",      "-MJ"})
        for (const char *value : {"-E", "-S", "-o", "x.c", "/dev/null", "-", "-m16", "--version"})
            EXPECT_EQ(objects({"-c", option, value, "a.c"}), Words{"a.o"}) << option << value;
    for (const char *option : {"-include-pch", "-imultiarch", "-F", "--include", "--define-macro"})
        EXPECT_EQ(objects({"-c", option, "x.c", "a.c"}), Words{"a.o"}) << option;
    EXPECT_EQ(objects({"-Wp,-MMD,.a.o.d", "-Wa,-E", "-c", "a.c"}), Words{"a.o"});
}

TEST(CompileCommand, OtherProgramsOfTheTree)
{
    auto reason = [](const Words &more, const std::string &object) {
        Words words = {"-c", "a.c", "-o", object};
        words.insert(words.end(), more.begin(), more.end());
        CompileCommand command = read_compile_command(words);
        EXPECT_NE(command.objects.empty(), command.left_alone.empty()) << object;
        return command.left_alone;
    };
    EXPECT_EQ(reason({}, "arch/x86/boot/main.o"), "arch/x86/boot/main.o: boot loader part");
    EXPECT_EQ(reason({}, "/arch/src/arch/arm/boot/compressed/misc.o"),
              "/arch/src/arch/arm/boot/compressed/misc.o: boot loader part");
    EXPECT_EQ(reason({}, "arch/x86/realmode/rm/wakemain.o"),
              "arch/x86/realmode/rm/wakemain.o: 16-bit code");
    EXPECT_EQ(reason({}, "arch/riscv/purgatory/sha256.o"),
              "arch/riscv/purgatory/sha256.o: purgatory");
    EXPECT_EQ(reason({"-m16"}, "a.o"), "a.o: 16-bit code");
    EXPECT_EQ(reason({"-m16", "-m64"}, "a.o"), "");
    EXPECT_EQ(reason({"-DBUILD_VDSO32"}, "a.o"), "a.o: vdso");
    EXPECT_EQ(reason({"-fPIC"}, "arch/x86/entry/vdso/vclock.o"),
              "arch/x86/entry/vdso/vclock.o: vdso");
    EXPECT_EQ(reason({"-fPIC"}, "arch/mips/vdso/vclock.o"), "arch/mips/vdso/vclock.o: vdso");
    for (const char *object :
         {"arch/x86/boot/startup/sme.o", "arch/x86/realmode/init.o", "arch/x86/entry/vdso/vma.o",
          "arch/boot/fs/namei.o", "/home/arch/boot/kernel/fork.o", "drivers/boot/a.o", "boot/a.o",
          "arch/x86/kernel/boot/a.o", "search/x86/boot/a.o", "arch/purgatory/kernel/a.o"})
        EXPECT_EQ(reason({"-fPIC", "-fno-pic"}, object), "") << object;
    EXPECT_EQ(reason({"-fPIC"}, "kernel/vdso_like.o"), "");
    EXPECT_EQ(reason({"-DMODULE"}, "/home/arch/alice/boot/x.o"), "");
    EXPECT_EQ(reason({"-DMODULE", "-fPIC"}, "/home/arch/alice/vdso/x.o"), "");
    EXPECT_EQ(reason({"-DMODULE", "-m16"}, "a.o"), "a.o: 16-bit code");

    auto assembled = [](const std::string &object) {
        return read_compile_command({"-fno-PIE", "-c", "-o", object, "a.S"}).left_alone;
    };
    EXPECT_EQ(assembled("arch/arm64/kernel/vdso/chacha.o"),
              "arch/arm64/kernel/vdso/chacha.o: vdso");
    EXPECT_EQ(assembled("arch/arm64/kernel/vdso-wrap.o"), "");
    EXPECT_EQ(assembled("arch/arm64/kernel/entry.o"), "");
}

class ResponseFile : public testing::Test
{
protected:
    void write(const std::string &text) { std::ofstream(path_) << text; }
    void SetUp() override { std::remove(path_.c_str()); } // left by a test that was killed
    void TearDown() override { std::remove(path_.c_str()); }
    std::string path_ = testing::TempDir() + "compile_command_test.args";
};

TEST_F(ResponseFile, Unfolds)
{
    write("-c 'a b.c'\n-o \"c d.o\"");
    EXPECT_EQ(objects({"-g", "@" + path_}), Words{"c d.o"});
    write("-E");
    EXPECT_EQ(objects({"-c", "a.c", "@" + path_}), Words{});
    write("");
    EXPECT_EQ(objects({"-c", "a.c", "@" + path_}), Words{"a.o"});
}

TEST_F(ResponseFile, QuotesAsInCompilers)
{
    write(R"(-c '-DQ=\'x\'' a.c)");
    EXPECT_EQ(objects({"@" + path_}), Words{"a.o"});
    write("-c 'a.c");
    EXPECT_EQ(objects({"@" + path_}), Words{"a.o"});
}

/// gcc 15 and later read quotes as a shell does.
TEST_F(ResponseFile, QuotesDependOnVersion)
{
    write(R"(-g '-DS=\' -c x.c -o 'y.o')"); // gcc 14: one word after -g; its last quote is open
    CompileCommand command = read_compile_command({"@" + path_});
    EXPECT_EQ(command.objects, Words{"y.o"});
    EXPECT_TRUE(command.depends_on_version);
    write(R"(-c -g x.c -o "a\b.o")");
    command = read_compile_command({"@" + path_});
    EXPECT_EQ(command.objects, (Words{"ab.o", "a\\b.o"}));
    EXPECT_TRUE(command.asks_for_dwarf && command.only_c && command.depends_on_version);
    write("-c x.c -o y\\\n.o");
    EXPECT_EQ(objects({"@" + path_}), (Words{"y\n.o", "y.o"}));
    write(R"(-c x.c "-DS=a\b" '-DT=\x' -o "a\"\$\`\\.o")");
    command = read_compile_command({"@" + path_});
    EXPECT_EQ(command.objects, Words{R"(a"$`\.o)"});
    EXPECT_FALSE(command.depends_on_version);
    write(R"(-c x.c -o arch/x86/boot/'a\b.o')");
    EXPECT_EQ(objects({"@" + path_}), Words{});
}

TEST_F(ResponseFile, DoesNotExist)
{
    EXPECT_EQ(objects({"-c", "-I", "@" + path_, "a.c"}), Words{"a.o"});
    EXPECT_EQ(objects({"-c", "@no-such-file.c"}), Words{"@no-such-file.o"});
}

TEST_F(ResponseFile, CannotBeRead)
{
    write("@" + path_);
    CompileCommand command = read_compile_command({"-c", "a.c", "@" + path_});
    EXPECT_EQ(command.objects, Words{});
    EXPECT_EQ(command.left_alone, path_ + ": response files are nested too deeply");
    std::remove(path_.c_str());
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    command = read_compile_command({"-c", "a.c", "@" + path_}); // does not wait for a writer
    EXPECT_EQ(command.objects, Words{});
    EXPECT_EQ(command.left_alone, path_ + ": is not a regular file");
}

} // namespace

} // namespace btflink::kbuild

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "kbuild-integration/btf-cc/lean_debug.h"

#include "kbuild-integration/btf-cc/compile_command.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace btflink::kbuild
{

namespace
{

using Words = std::vector<std::string>;

TEST(LeanDebug, KindsByName)
{
    for (const char *name :
         {"gcc", "/usr/bin/gcc-12", "x86_64-linux-gnu-gcc", "arm-eabi-g++-9.3.0"})
        EXPECT_EQ(compiler_kind(name), CompilerKind::gcc) << name;
    for (const char *name : {"clang", "clang-19", "../bin/clang++", "aarch64-clang-19.1"})
        EXPECT_EQ(compiler_kind(name), CompilerKind::clang) << name;
    for (const char *name :
         {"cc", "c++", "ccache", "btf-cc", "tcc", "gcc-ar", "clang-tidy", "gcc/x", "12", "-", ""})
        EXPECT_EQ(compiler_kind(name), CompilerKind::other) << name;
}

TEST(LeanDebug, FindsTheCompiler)
{
    EXPECT_EQ(find_compiler({"gcc", "-c", "a.c"}), 0U);
    EXPECT_EQ(find_compiler({"env", "A=b", "ccache", "clang-19", "-c"}), 3U);
    EXPECT_EQ(find_compiler({"nice", "-n", "5", "gcc"}), 4U); // which of these, we cannot know
    EXPECT_EQ(find_compiler({"env", "HOSTCC=/usr/bin/gcc", "ccache", "gcc", "-c"}), 3U);
    EXPECT_EQ(find_compiler({"cc", "a.c"}), 2U);
    EXPECT_EQ(find_compiler({}), 0U);
}

TEST(LeanDebug, OptionsThatTheCompilerKnows)
{
    const Compiler unknown, gcc_7{CompilerKind::gcc, 70500}, gcc_8{CompilerKind::gcc, 80100},
        clang{CompilerKind::clang, 190100};
    const Words first{"-fno-merge-debug-strings"};
    for (const Compiler &configured : {unknown, gcc_7, clang})
        EXPECT_EQ(lean_debug_options(CompilerKind::gcc, configured), first);
    const Words all = lean_debug_options(CompilerKind::gcc, gcc_8);
    EXPECT_EQ(all.front(), first.front());
    EXPECT_NE(std::find(all.begin(), all.end(), "-gno-statement-frontiers"), all.end());
    for (const Compiler &configured : {unknown, gcc_8, clang}) {
        EXPECT_EQ(lean_debug_options(CompilerKind::clang, configured), Words{"-gno-column-info"});
        EXPECT_EQ(lean_debug_options(CompilerKind::other, configured), Words{});
    }
}

TEST(LeanDebug, CommandsThatChoose)
{
    auto chooses = [](const std::string &word) {
        return read_compile_command({"-g", word, "-c", "a.c"}).debug_is_chosen;
    };
    for (const char *word :
         {"-fvar-tracking", "-fno-var-tracking", "-fvar-tracking-assignments", "-gsplit-dwarf",
          "-gsplit-dwarf=single", "-frecord-gcc-switches", "-flto", "-flto=thin"})
        EXPECT_TRUE(chooses(word)) << word;
    for (const char *word : {"-g", "-gdwarf-5", "-fno-lto", "-O2", "-fno-strict-aliasing"})
        EXPECT_FALSE(chooses(word)) << word;
}

} // namespace

} // namespace btflink::kbuild

// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests how btf-cc finds the compiler in a command, and tells the compiler's kind by its name.
#include "kbuild-integration/btf-cc/compile_command.h"

#include <gtest/gtest.h>

namespace btflink::kbuild
{

namespace
{

TEST(CompilerName, KindsByName)
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

TEST(CompilerName, BareName)
{
    EXPECT_EQ(bare_name("/usr/bin/x86_64-linux-gnu-gcc-12"), "gcc");
    EXPECT_EQ(bare_name("g++-12"), "g++");
    EXPECT_EQ(bare_name("clang++-19"), "clang++");
    EXPECT_EQ(bare_name("c++"), "c++");
}

TEST(CompilerName, FindsTheCompiler)
{
    EXPECT_EQ(find_compiler({"gcc", "-c", "a.c"}), 0U);
    EXPECT_EQ(find_compiler({"env", "A=b", "ccache", "clang-19", "-c"}), 3U);
    EXPECT_EQ(find_compiler({"nice", "-n", "5", "gcc"}),
              4U); // not found: a word after an option may be the value of the option
    EXPECT_EQ(find_compiler({"env", "HOSTCC=/usr/bin/gcc", "ccache", "gcc", "-c"}), 3U);
    EXPECT_EQ(find_compiler({"cc", "a.c"}), 2U);
    EXPECT_EQ(find_compiler({}), 0U);
}

} // namespace

} // namespace btflink::kbuild

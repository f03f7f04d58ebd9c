#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Checks one rule for the source tree.

usage: tidy.py RULE SOURCE_ROOT [BUILD_ROOT]     (rules headers and clang-tidy need BUILD_ROOT)

Prints a line "FILE:LINE: problem" for each violation, or what clang-format and clang-tidy print. Exit status: 0 no
violations, 1 violations, 2 wrong usage, 77 the rule cannot be checked on this machine.
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

FOLDERS = ["common", "emit", "merge", "kbuild-integration", "btf-kernel", "tests", "bench"]
NO_PRODUCT = ("tests", "bench")
MAX_LINES = 600
SKIPPED = 77
CLANG_FORMATS = ["clang-format", "clang-format-14", "clang-format-19"] # versions 14 to 23 agree

# LAYERS states for each folder, without its subfolders, what its sources may include with quotes: headers of the same
# folder, headers of the folders in the list, and single headers in the list. The regular expression matches the
# beginnings of headers that the sources must not include with <>. Lists and expressions that several folders share:
COMMON = ["common", "common/io", "common/graph", "common/btf", "common/object_btf", "common/elf"]
NO_LIBRARY = r"elfutils/|dwarf\.h|libelf\.h|gelf\.h|llvm/|bpf/"
NO_DWARF = r"elfutils/libdw|dwarf\.h|llvm/|bpf/"
GCC = r"gcc-plugin\.h|plugin-version\.h|tree\.h|rtl\.h" # headers of gcc: only for emit/gcc
EMIT_DWARF = r"elfutils/|libelf\.h|gelf\.h|llvm/|bpf/"
BTF_KERNEL = ["common/cli", "btf-kernel", "btf-kernel/package"]
# Headers that the steps of the deduplication share, and the folders of the steps in order. A step must not include
# headers of later steps.
DEDUP = [f"merge/dedup/{name}.h"
         for name in ("dedup", "hash_bits")]
DEDUP_STEPS = [f"merge/dedup/{step}" for step in ("classes", "conflicts", "join", "split")]
LAYERS = {
    "common": ([], NO_LIBRARY),
    "common/cli": (["common", "common/io"], NO_LIBRARY),
    "common/io": (["common"], NO_LIBRARY),
    "common/graph": (["common"], NO_LIBRARY),
    "common/btf": (["common", "common/io", "common/graph"], NO_LIBRARY),
    "common/elf": (["common", "common/io"], NO_LIBRARY),
    "common/object_btf": (["common", "common/io", "common/graph", "common/btf", "common/elf"],
                          NO_LIBRARY),
    "emit": ([*COMMON, "common/cli", "emit/tree", "emit/dwarf", "emit/unit", "emit/object"],
             NO_LIBRARY),
    "emit/tree": (COMMON, EMIT_DWARF),
    "emit/dwarf": ([*COMMON, "emit/tree"], EMIT_DWARF),
    "emit/dwarf/fast": ([*COMMON, "emit/tree", "emit/dwarf"], EMIT_DWARF),
    "emit/dwarf/libdw": ([*COMMON, "emit/tree", "emit/dwarf"], r"llvm/|bpf/"),
    "emit/unit": ([*COMMON, "emit/tree", "emit/object"], EMIT_DWARF),
    "emit/object": (COMMON, NO_LIBRARY),
    "emit/gcc": ([*COMMON, "emit/tree", "emit/unit"], EMIT_DWARF),
    "merge": ([*COMMON, "common/cli", "merge/input", "merge/base_index", "merge/link", "merge/dedup",
               "merge/dedup/libbpf", "merge/gather", "merge/output", "merge/explain"], NO_DWARF),
    "merge/input": (COMMON, r"elfutils/libdw|dwarf\.h|bpf/"),
    "merge/base_index": ([*COMMON, "merge/input/load_objects.h", "merge/input/final_btf.h"], NO_DWARF),
    "merge/gather": ([*COMMON, "merge/input"], NO_DWARF),
    "merge/link": ([*COMMON, "merge/input"], NO_DWARF),
    "merge/dedup": ([*COMMON, *DEDUP_STEPS, "merge/base_index/base_index.h",
                     "merge/input/load_objects.h", "merge/stats.h"], NO_DWARF),
    "merge/dedup/classes": ([*COMMON, *DEDUP, "merge/base_index/base_index.h",
                             "merge/input/load_objects.h"], NO_DWARF),
    "merge/dedup/conflicts": ([*COMMON, *DEDUP, *DEDUP_STEPS[:1]], NO_DWARF),
    "merge/dedup/join": ([*COMMON, *DEDUP, *DEDUP_STEPS[:2]], NO_DWARF),
    "merge/dedup/split": ([*COMMON, *DEDUP, *DEDUP_STEPS[:3]], NO_DWARF),
    "merge/dedup/libbpf": ([*COMMON, "merge/dedup", "merge/link"], r"elfutils/libdw|dwarf\.h|llvm/"),
    "merge/output": ([*COMMON, "merge/base_index/base_index.h", "merge/dedup", "merge/link"],
                     NO_DWARF),
    "merge/explain": ([*COMMON, "merge/dedup", "merge/input/final_btf.h",
                       "merge/input/load_objects.h"], NO_DWARF),
    "kbuild-integration": ([*COMMON, "common/cli", "emit/dwarf/languages.h"],
                           NO_LIBRARY),
    "kbuild-integration/btf-cc": ([*COMMON, "common/cli", "kbuild-integration", "emit/emit.h"],
                                  NO_LIBRARY),
    "kbuild-integration/btf-pahole": ([*COMMON, "common/cli", "kbuild-integration",
                                       "kbuild-integration/btf-cc/compile_command.h",
                                       "emit/tree/die_tree.h", "emit/emit.h",
                                       "merge/gather/gatherer.h",
                                       "merge/input/final_btf.h",
                                       "merge/link/select.h", "merge/merge.h",
                                       "merge/output/write_elf.h"], NO_LIBRARY),
    "btf-kernel": ([*COMMON, *BTF_KERNEL], NO_LIBRARY),
    "btf-kernel/encode": ([*COMMON, *BTF_KERNEL, "emit/dwarf/languages.h",
                           "kbuild-integration/btf-pahole/steps.h",
                           "merge/base_index/base_index.h", "merge/input/final_btf.h",
                           "merge/merge.h"], NO_LIBRARY),
    "btf-kernel/package": ([*COMMON, "btf-kernel/progress.h"], NO_LIBRARY),
    "btf-kernel/check": ([*COMMON, *BTF_KERNEL, "btf-kernel/diff", "merge/input/final_btf.h"],
                         NO_LIBRARY),
    "btf-kernel/diff": ([*COMMON, *BTF_KERNEL, "btf-kernel/bpf", "btf-kernel/kabi",
                         "merge/explain/c_text.h"], NO_LIBRARY),
    "btf-kernel/report": ([*COMMON, *BTF_KERNEL, "btf-kernel/diff",
                           "kbuild-integration/btf-pahole/steps.h",
                           "merge/input/load_objects.h", "merge/merge.h"], NO_LIBRARY),
    "btf-kernel/kabi": ([*COMMON, "common/cli", "btf-kernel/diff"], NO_LIBRARY),
    "btf-kernel/bpf": ([*COMMON, "common/cli", "btf-kernel/diff", "merge/input/final_btf.h"],
                       NO_LIBRARY),
}


def sources(root, *suffixes):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path.relative_to(root)


def scripts(root):
    """Yields the scripts: files with a suffix of Python or shell, and files without a suffix that begin with #!."""
    yield from sources(root, ".py", ".sh")
    for name in sources(root, ""):
        with open(root / name, "rb") as file:
            if file.read(2) == b"#!":
                yield name


def lines_of(path):
    return path.read_text(errors="replace").splitlines()


def includes(path):
    """Yields line number, bracket and target of each #include."""
    for number, line in enumerate(lines_of(path), 1):
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
        if include:
            yield number, *include.groups()


def layers(root, _build):
    """Folders include only what LAYERS allows. Paths of our own headers begin at the top of the tree."""
    for name in sources(root, ".cc", ".h"):
        folder = name.parent.as_posix()
        if folder not in LAYERS and name.parts[0] not in NO_PRODUCT:
            yield f"{name}:1: {folder} is not in LAYERS"
        ours, forbidden = LAYERS.get(folder, (None, None))
        for number, bracket, target in includes(root / name):
            if bracket == '"':
                allowed = (target.startswith(tuple(f + "/" for f in FOLDERS)) if ours is None
                           else {target, os.path.dirname(target)} & {folder, *ours})
            else:
                allowed = not (forbidden and re.match(forbidden, target)) and (
                    folder == "emit/gcc" or not re.match(GCC, target))
            if not allowed:
                yield f"{name}:{number}: may not include {target}"


def length(root, _build):
    """Sources and scripts have at most MAX_LINES lines."""
    for name in itertools.chain(sources(root, ".cc", ".h"), scripts(root)):
        count = len(lines_of(root / name))
        if count > MAX_LINES:
            yield f"{name}:{count}: more than {MAX_LINES} lines"


# The first line of a file's purpose: a comment with text. A comment that describes an algorithm begins with
# "Problem"; the purpose must come before it.
PURPOSE = re.compile(r"// ?(?!Problem)\S")


def heads(root, _build):
    """Sources and scripts begin with their licence; after it, .cc and .h files have their purpose. Each header has
    #pragma once."""
    for name in itertools.chain(sources(root, ".cc", ".h"), scripts(root)):
        lines = lines_of(root / name)
        if "SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause" not in lines[lines[0].startswith("#!")]:
            yield f"{name}:1: no SPDX line"
        if name.suffix in (".cc", ".h") and not PURPOSE.match(lines[1]):
            yield f"{name}:2: does not say what it is for"
        if name.suffix == ".h" and "#pragma once" not in lines:
            yield f"{name}:1: no #pragma once"


def compile_commands(build):
    """Yields source and words of each compile command of the build."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        yield pathlib.Path(path), shlex.split(entry["command"])


def compile_flags(build):
    """Returns for each folder a list: the words that call the compiler, then those options of the folder's sources
    that set include folders, macros, language, warnings and machine."""
    flags = {}
    for path, words in compile_commands(build):
        keep = list(itertools.takewhile(lambda w: not w.startswith("-"), words))  # the compiler
        keep += [w for w in words if w.startswith(("-I", "-isystem", "-D", "-std", "-W", "-m"))]
        # The value of a macro may differ between programs; any value will do.
        keys = [w.split("=")[0] if w.startswith("-D") else w for w in keep]
        flags.setdefault(path.parent, {}).update(zip(keys, keep))
    return {folder: list(words.values()) for folder, words in flags.items()}


def headers(root, build):
    """Each header can be included alone."""
    # A header that a source includes first need not be checked: in the build, nothing comes before it.
    firsts = (next(includes(path), None) for path in {p for p, _ in compile_commands(build)}
              if path.suffix == ".cc" and path.exists())
    shown = {first[2] for first in firsts if first}
    flags = compile_flags(build)

    def error_of(name):
        folder = root / name.parent
        while folder not in flags and folder != root:
            folder = folder.parent
        command = flags.get(folder) or next(iter(flags.values()))
        # The header is included and not compiled itself, because compilers warn about #pragma once in a main file.
        result = subprocess.run(command + ["-fsyntax-only", "-x", "c++", "-"],
                                input=f'#include "{name}"\n', cwd=build, text=True,
                                capture_output=True)
        return f"{name}:1: is not self-contained\n{result.stderr}" if result.returncode else None

    # trees.h needs gcc's headers. The build of a plugin checks it, because trees.cc includes it first.
    behind_gcc = ("emit/gcc/trees.h",)
    rest = [name for name in sources(root, ".h")
            if str(name) not in shown and str(name) not in behind_gcc]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(error_of, rest))


def clang_format(root, _build):
    """Each program of CLANG_FORMATS that is installed agrees with the formatting."""
    programs = {os.path.realpath(path) for path in map(shutil.which, CLANG_FORMATS) if path}
    if not programs:
        print("skipped: clang-format is not installed")
        sys.exit(SKIPPED)
    files = [str(name) for name in sources(root, ".cc", ".h")]
    for program in sorted(programs):
        result = subprocess.run([program, "--dry-run", "-Werror", "--ferror-limit=1"] + files,
                                cwd=root, text=True, capture_output=True)
        if result.returncode:
            yield f"{program}:\n{result.stderr}"


def clang_tidy(root, build):
    """clang-tidy finds nothing in the product. The gcc plugin is not checked, because it needs gcc's headers."""
    if not shutil.which("clang-tidy"):
        print("skipped: clang-tidy is not installed")
        sys.exit(SKIPPED)
    # All sources of a folder are included into one file, because most of the time goes into headers. For clang-tidy
    # the sources are then headers, so --header-filter must match them. They see each other's names, so -Wshadow is off.
    compiled = {path for path, _ in compile_commands(build)}
    folders = {}
    for path in (root / name for name in sources(root, ".cc")):
        if path in compiled and not {"tests", "bench", "gcc"} & set(path.relative_to(root).parts):
            folders.setdefault(path.parent, []).append(path)
    options = ["--quiet", "--checks=-bugprone-suspicious-include",
               f"--header-filter=/({'|'.join(FOLDERS)})/[a-z0-9_/-]*\\.(cc|h)$"]
    flags = compile_flags(build)

    def findings(folder):
        # The flags may be for g++. clang does not know all warnings of g++, and clang-tidy 14 does not know
        # -std=c++23.
        known = [re.sub("^-std=.*", "-std=c++20", word) for word in flags[folder][1:]]
        together = pathlib.Path(scratch, f"{folder.relative_to(root)}.cc".replace("/", "-"))
        together.write_text("".join(f'#include "{path}"\n' for path in folders[folder]))
        result = subprocess.run(["clang-tidy", f"--config-file={root / '.clang-tidy'}", *options, together, "--",
                                 *known, "-Wno-unknown-warning-option", "-Wno-shadow"],
                                cwd=build, text=True, capture_output=True)
        return result.stdout + result.stderr if result.returncode else None

    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(findings, folders))


def anchors(path):
    """Returns the anchors that GitHub makes of a document's headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def documents(root, _build):
    """Paths in backquotes such as `folder/file.cc` exist, relative to the top or to the document. Links, except those
    to web pages, lead to a file and, after #, to a heading in it."""
    for path in itertools.chain(root.glob("*.md"), *((root / f).rglob("*.md") for f in [*FOLDERS, "docs"])):
        for number, line in enumerate(lines_of(path), 1):
            for name in re.findall(r"`([a-z-]+(?:/[\w.-]+)+\.(?:cc|h|py|md|txt))`", line):
                if not (root / name).exists() and not (path.parent / name).exists():
                    yield f"{path.relative_to(root)}:{number}: {name} does not exist"
            for name, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", line):
                target = path.parent / name if name else path
                if not target.exists() or anchor and anchor not in anchors(target):
                    yield f"{path.relative_to(root)}:{number}: the link to {name}#{anchor} leads nowhere"


# Words and phrases that are not the plain English that CONTRIBUTING.md asks for.
ODD_WORDS = re.compile(r"(?<!--)\b(anew|as it stands|beside|but for|corridors?|is what is|made anew|"
                       r"sees to|such are|type proper|what is none|what of it|whereby|"
                       r"(?<!here )is no(?= (?!longer|such)))\b")


def words(root, _build):
    """Comments, documents, man pages and scripts have none of ODD_WORDS; README.md has at most 100 lines."""
    texts = itertools.chain(root.glob("*.md"), (root / "docs").glob("*.md"),
                            (root / name for name in sources(root, ".cc", ".h", ".md", ".1")),
                            (root / name for name in scripts(root) if name.name != "tidy.py"))
    for path in texts:
        name = path.relative_to(root)
        for number, line in enumerate(lines_of(path), 1):
            text = line.partition("//")[2] if path.suffix in (".cc", ".h") else line
            odd = ODD_WORDS.search(text)
            if odd:
                yield f"{name}:{number}: '{odd[0]}'"
    if len(lines_of(root / "README.md")) > 100:
        yield "README.md:101: more than 100 lines"


def kinds(root, _build):
    """In the product, switches over kinds of BTF and their properties (Family, Word, Naming) have no default, so that
    the compiler reports a case that is missing."""
    for name in sources(root, ".cc", ".h"):
        over_kinds = {}  # by indentation: did the last label name a kind or a property?
        for number, line in enumerate(lines_of(root / name), 1):
            label = re.match(r"( *)(case btf::(?:Kind|Family|Word|Naming)::|case |default:)", line)
            if not label or name.parts[0] in NO_PRODUCT:
                continue
            if label[2] == "default:" and over_kinds.get(label[1]):
                yield f"{name}:{number}: a switch over kinds with a default"
            over_kinds[label[1]] = label[2].endswith("::")


RULES = {"layers": layers, "length": length, "heads": heads, "headers": headers,
         "documents": documents, "words": words, "kinds": kinds, "clang-format": clang_format,
         "clang-tidy": clang_tidy}


def main():
    rule, *folders = sys.argv[1:] or [""]
    if rule not in RULES or len(folders) < (2 if rule in ("headers", "clang-tidy") else 1):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    roots = [pathlib.Path(folder).resolve() for folder in folders] + [None]
    violations = 0
    for violation in RULES[rule](roots[0], roots[1]):
        print(violation)
        violations += 1
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

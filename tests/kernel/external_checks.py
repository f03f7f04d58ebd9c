# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Builds an external module against a headers tree as in a distribution's package, without vmlinux and
objects. The base of the module's BTF is a saved copy of vmlinux's BTF.
"""
import pathlib
import re
import shutil

from btf_checks import BtfChecks
from checks import command, output_of

SOURCE = pathlib.Path(__file__).resolve().parent / 'external'
# The files and folders of Kbuild's output folder that the build of a module for x86 reads.
HEADERS = ['.config', 'Makefile', 'Module.symvers', 'include', 'scripts', 'arch/x86/include',
           'tools/objtool/objtool', 'tools/bpf/resolve_btfids/resolve_btfids', 'source']


def headers_tree(tree):
    headers = tree.workshop.work / 'headers'
    shutil.rmtree(headers, ignore_errors=True)
    for name in HEADERS:
        source, copy = tree.build / name, headers / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            copy.symlink_to(source.resolve())
        elif source.is_dir():
            shutil.copytree(source, copy, symlinks=True)
        else:
            shutil.copy2(source, copy)
    # From 6.13 on, this Makefile contains the path of its folder.
    makefile = headers / 'Makefile'
    makefile.write_text(makefile.read_text().replace(str(tree.build), str(headers)))
    return headers


def external_module(checks, tree):
    """Builds the module without a base, so that it gets no BTF, and adds BTF with btf-pahole. Then builds the module
    with a base and with DWARF dropped. Both builds have the settings of `tree`. Checks both; returns the path of the
    second."""
    btf = BtfChecks(checks, tree, f'{tree.name}: external module')
    headers = headers_tree(tree)
    saved = tree.workshop.work / 'saved.btf'
    saved.write_bytes(btf.contents_of(tree.build / 'vmlinux'))
    module = tree.workshop.work / 'external'
    shutil.rmtree(module, ignore_errors=True)
    shutil.copytree(SOURCE, module)
    result = module / 'hello.ko'

    def build(**settings):
        return command(['make', '-s', '-C', headers, f'M={module}', *tree.arguments],
                       env=tree.workshop.environment(tree.settings | settings))

    # Without a base nothing would merge object BTF, so the module must not have any.
    output = build()
    btf.ok('without vmlinux Kbuild skips BTF, and so does btf-cc',
           'Skipping BTF generation' in output and len(output.splitlines()) == 1
           and not re.search(r'\.BTF(\.base)?\s', command(['readelf', '-SW', result])), output)
    by_hand = module / 'by-hand.ko'
    shutil.copyfile(result, by_hand)
    status, output = output_of([tree.workshop.bin / 'btf-pahole', '-J', '--btf_features=default',
                                f'--btf_base={saved}', by_hand])
    btf.ok("btf-pahole by hand, over a saved copy of the kernel's BTF", status == 0, output)
    check_contents(btf, by_hand, saved)

    # The saved copy takes the place of vmlinux. DWARF is dropped after the compile.
    shutil.copyfile(saved, headers / 'vmlinux')
    for name in ('hello.o', 'hello.mod.o', '.module-common.o'):
        (module / name).unlink(missing_ok=True)
    output = build(BTF_CC_STRIP_DWARF='1')
    btf.ok('the build prints nothing', not output.strip(), output)
    by_plugin = 'BTF_CC_PLUGIN' in tree.settings
    trailer = command([btf.dump_tool, '--trailer', module / 'hello.o'])
    btf.ok(f'hello.o: object BTF {"by the gcc plugin" if by_plugin else "from DWARF"}',
           ('by-compiler' in trailer) == by_plugin, trailer)
    base = module / 'base.btf'
    base.write_bytes(btf.contents_of(result, '.BTF.base'))
    check_contents(btf, result, base)
    return result


def check_contents(btf, module, base):
    """Checks that the module's BTF has the struct, function, per-CPU variable and kfunc of external/hello.c."""
    text = command([btf.dump_tool, 'c', module, f'--base={base}'])
    btf.ok(f'{module.name}: its struct, with a field of a kernel type',
           'struct hello_visit {' in text and 'struct task_struct *who;' in text, text)
    raw = command([btf.dump_tool, 'raw', module, f'--base={base}'])
    btf.ok(f'{module.name}: its function and its per-CPU variable',
           "FUNC 'hello_count'" in raw and "VAR 'hello_last'" in raw, raw)
    kfunc = re.search(r"^\[(\d+)\] FUNC 'hello_times'", raw, re.M)
    btf.ok(f'{module.name}: its kfunc has the tag',
           kfunc and f"DECL_TAG 'bpf_kfunc' type_id={kfunc[1]} " in raw, raw)

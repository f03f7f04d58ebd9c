# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A module from outside the kernel's tree, built against a headers tree: what a distribution's
headers package has, no vmlinux, no objects. The base of its BTF is a saved copy of vmlinux's.
"""
import pathlib
import shutil

from btf_checks import BtfChecks
from checks import command, output_of

SOURCE = pathlib.Path(__file__).resolve().parent / 'external'
# What building a module reads of Kbuild's output folder.
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
    return headers


def external_module(checks, tree):
    """Builds and checks it; its path."""
    btf = BtfChecks(checks, tree, 'external module')
    headers = headers_tree(tree)
    base = headers / 'vmlinux'
    base.write_bytes(btf.contents_of(tree.build / 'vmlinux'))
    module = tree.workshop.work / 'external'
    shutil.rmtree(module, ignore_errors=True)
    shutil.copytree(SOURCE, module)
    settings = tree.workshop.environment(tree.settings)
    output = command(['make', '-s', '-C', headers, f'M={module}', *tree.arguments], env=settings)
    btf.ok('the build prints nothing', not output.strip(), output)
    result = module / 'hello.ko'
    text = command([btf.dump_tool, 'c', result, f'--base={base}'])
    btf.ok('has its struct, with a field of a kernel type',
           'struct hello_visit {' in text and 'struct task_struct *who;' in text, text)
    raw = command([btf.dump_tool, 'raw', result, f'--base={base}'])
    btf.ok('has its function and its per-CPU variable',
           "FUNC 'hello_count'" in raw and "VAR 'hello_last'" in raw, raw)

    # By hand over the saved copy, as where Kbuild finds no vmlinux.
    again = module / 'again.ko'
    base.unlink()
    (module / 'hello.o').touch()
    command(['make', '-s', '-C', headers, f'M={module}', *tree.arguments], env=settings)
    shutil.copyfile(result, again)
    saved = tree.workshop.work / 'saved.btf'
    saved.write_bytes(btf.contents_of(tree.build / 'vmlinux'))
    status, output = output_of([tree.workshop.bin / 'btf-pahole', '-J', '--btf_features=default',
                                f'--btf_base={saved}', again])
    btf.ok('btf-pahole by hand, over a saved copy of the kernel\'s BTF', status == 0, output)
    btf.compare('... with the same result', again, result, f'--base-a={saved}',
                f'--base-b={saved}')
    return result

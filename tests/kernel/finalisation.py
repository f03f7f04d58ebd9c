# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Runs the step between btf-pahole and the finished BTF in kernels with scripts/gen-btf.sh: resolve_btfids
tags the kfuncs of .BTF_ids, removes duplicate types, and sorts types by name."""
import functools
import shlex

from checks import Failed, command


class Finalisation:
    """Finishes BTF as the build of `tree` does. Files are written to `results`; the build folder is not changed."""

    def __init__(self, tree, results):
        self.tree = tree
        self.results = results
        self.tool = tree.build / 'tools/bpf/resolve_btfids/resolve_btfids'
        # An ELF file without .BTF_ids. An object of the kernel would not do, because it may be bitcode.
        self.host_object = self.tool.with_name('main.o')
        self.pahole = tree.workshop.bin / 'btf-pahole'
        self.there = (tree.source / 'scripts/gen-btf.sh').exists()

    def linked(self, path):
        """Returns the path of vmlinux or a module as btf-pahole got it, before resolve_btfids changed .BTF_ids. A
        module is linked again for this."""
        if path == 'vmlinux':
            return self.tree.image
        words = shlex.split(self.tree.saved_command(path).split(';')[0])
        fresh = self.results / f'linked-{self.tree.name}.ko'
        words[words.index('-o') + 1] = str(fresh)
        command(words, cwd=self.tree.build)
        return fresh

    def resolve(self, btf, elf, *options):
        """Runs resolve_btfids on `elf` with the BTF in `btf`. Returns the path of the resulting BTF, and the output."""
        link = self.results / f'resolved-{self.tree.name}' # resolve_btfids writes to the folder of its ELF file
        link.unlink(missing_ok=True)
        link.symlink_to(elf)
        said = command([self.tool, *options, '--btf', btf, link])
        result = btf.with_name(btf.name + '.final')
        link.with_name(link.name + '.BTF').rename(result)
        return result, said

    def final(self, btf, path, base=''):
        """Finishes `btf`, the result of a merge or of pahole for vmlinux or a module. Returns the path of the finished
        BTF; for a kernel without the step, this is `btf`."""
        if not self.there:
            return btf
        return self.resolve(btf, self.linked(path), *over(base))[0]

    def deduplicated(self, btf, base=''):
        """Runs resolve_btfids on `btf` and a file without .BTF_ids. Without .BTF_ids, resolve_btfids only calls
        btf__dedup() and sorts types."""
        return self.resolve(btf, self.host_object, *over(base))[0]

    @functools.cached_property
    def flags(self):
        """Returns the options that Kbuild gives to pahole."""
        said = self.tree.make('--eval=print_flags: ; @echo "flags:" $(PAHOLE_FLAGS)', 'print_flags')
        lines = [line for line in said.splitlines() if line.startswith('flags: -')]
        if not lines:
            raise Failed(f'no PAHOLE_FLAGS from Kbuild: {said}')
        return lines[0].split()[1:]

    def features(self):
        """Returns the lists of features in `flags` as options of btf-emit and btf-merge. Lists with a feature that
        btf-pahole does not know are left out, because these programs would refuse them."""
        known = command([self.pahole, '--supported_btf_features']).strip().split(',')
        lists = [flag.split('=')[1] for flag in self.flags if flag.startswith('--btf_features=')]
        return [f'--features={names}' for names in lists
                if all(name.strip('+') in known for name in names.split(','))]

    def written(self, path, base=''):
        """Runs btf-pahole again on vmlinux or a module, because Kbuild removes the BTF that btf-pahole wrote.
        Returns the path of the BTF. `base` is the base of a module; '': vmlinux."""
        btf = self.results / f'written-{self.tree.name}.btf'
        btf.unlink(missing_ok=True)
        if path != 'vmlinux':
            base = base or self.tree.build / 'vmlinux'
        command([self.pahole, '-J', *self.flags, *over(base),
                 f'--btf_encode_detached={btf}', self.linked(path)], cwd=self.tree.build)
        return btf


def over(base):
    """Returns the option of pahole and resolve_btfids that names a base; no option if `base` is empty."""
    return ['--btf_base', base] if base else []

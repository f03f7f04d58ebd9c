# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The step between btf-pahole and the finished BTF, in kernels that have scripts/gen-btf.sh:
resolve_btfids adds what .BTF_ids says about kfuncs, removes what is equal and sorts by name."""
import functools
import shlex

from checks import Failed, command


class Finalisation:
    """Of one tree. Files go to `results`; nothing in the build folder is written to."""

    def __init__(self, tree, results):
        self.tree = tree
        self.results = results
        self.tool = tree.build / 'tools/bpf/resolve_btfids/resolve_btfids'
        # An ELF file without BTF: the kernel's own objects may be bitcode.
        self.host_object = self.tool.with_name('main.o')
        self.pahole = tree.workshop.bin / 'btf-pahole'
        self.there = (tree.source / 'scripts/gen-btf.sh').exists()

    def linked(self, path):
        """vmlinux or a module as it was when btf-pahole got it: resolve_btfids has changed the
        .BTF_ids since."""
        if path == 'vmlinux':
            return self.tree.image
        words = shlex.split(self.tree.saved_command(path).split(';')[0])
        fresh = self.results / f'linked-{self.tree.name}.ko'
        words[words.index('-o') + 1] = str(fresh)
        command(words, cwd=self.tree.build)
        return fresh

    def resolve(self, btf, elf, *options):
        """resolve_btfids with this BTF of a file: the path of its result, and what it said."""
        beside = self.results / f'resolved-{self.tree.name}' # it writes beside the ELF file
        beside.unlink(missing_ok=True)
        beside.symlink_to(elf)
        said = command([self.tool, *options, '--btf', btf, beside])
        result = btf.with_name(btf.name + '.final')
        beside.with_name(beside.name + '.BTF').rename(result)
        return result, said

    def final(self, btf, path, base=''):
        """`btf`, as it comes out of a merge or pahole for vmlinux or a module, finished as the
        kernel does it, if it does."""
        if not self.there:
            return btf
        return self.resolve(btf, self.linked(path), *over(base))[0]

    def deduplicated(self, btf, base=''):
        """`btf` by nothing but libbpf's btf__dedup(), and sorted: for a file without .BTF_ids."""
        return self.resolve(btf, self.host_object, *over(base))[0]

    @functools.cached_property
    def flags(self):
        """What Kbuild gives pahole."""
        said = self.tree.make('--eval=print_flags: ; @echo "flags:" $(PAHOLE_FLAGS)', 'print_flags')
        lines = [line for line in said.splitlines() if line.startswith('flags: -')]
        if not lines:
            raise Failed(f'no PAHOLE_FLAGS from Kbuild: {said}')
        return lines[0].split()[1:]

    def features(self):
        """The same for btf-emit and btf-merge, which refuse what pahole passes over; older kernels
        ask for the default."""
        if not self.there:
            return []
        known = command([self.pahole, '--supported_btf_features']).strip().split(',')
        lists = [flag.split('=')[1] for flag in self.flags if flag.startswith('--btf_features=')]
        return [f'--features={names}' for names in lists
                if all(name.strip('+') in known for name in names.split(','))]

    def written(self, path, base=''):
        """What btf-pahole wrote of vmlinux or a module: Kbuild has removed it since. `base`: of a
        module, if it is not vmlinux."""
        btf = self.results / f'written-{self.tree.name}.btf'
        btf.unlink(missing_ok=True)
        if path != 'vmlinux':
            base = base or self.tree.build / 'vmlinux'
        command([self.pahole, '-J', *self.flags, *over(base),
                 f'--btf_encode_detached={btf}', self.linked(path)], cwd=self.tree.build)
        return btf


def over(base):
    """The option of pahole and resolve_btfids."""
    return ['--btf_base', base] if base else []

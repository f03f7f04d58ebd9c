# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Checks for kernels with scripts/gen-btf.sh: the BTF that btf-pahole writes has no duplicate types that resolve_btfids
would remove, and has a FUNC for each kfunc; btf-pahole can read the finished BTF as a base.
"""
import re
import struct

from checks import command
from helpers.btf_reader import KINDS, TAIL

# struct btf_header up to str_len, little-endian.
HEADER = '<HBBIIIII'


class Parts:
    """The sections of a BTF blob."""

    def __init__(self, blob):
        (_, _, _, length, type_off, type_len, str_off,
         str_len) = struct.unpack_from(HEADER, blob)
        self.types = blob[length + type_off:][:type_len]
        self.strings = blob[length + str_off:][:str_len]
        self.layout = b''
        if length >= 32:
            layout_off, layout_len = struct.unpack_from('<II', blob, struct.calcsize(HEADER))
            self.layout = blob[length + layout_off:][:layout_len]

    def without_layout(self):
        return struct.pack(HEADER, 0xeb9f, 1, 0, 24, 0, len(self.types), len(self.types),
                           len(self.strings)) + self.types + self.strings

    def with_layout(self):
        # An entry per kind: bytes after its struct btf_type, bytes per element, flags.
        layout = b''.join(struct.pack('<BBH', *TAIL.get(kind, (0, 0)), 0) for kind in KINDS)
        return struct.pack(HEADER + 'II', 0xeb9f, 1, 0, 32, 0, len(self.types),
                           len(self.types) + len(layout), len(self.strings), len(self.types),
                           len(layout)) + self.types + layout + self.strings


class FinalisationChecks:
    """The checks of one tree. `btf`: the BtfChecks of this tree, which was built with the hook."""

    def __init__(self, btf):
        self.btf = btf
        self.tree = btf.tree
        self.step = btf.finalisation

    def run(self):
        self.kfuncs()
        for path in ['vmlinux', *self.tree.modules()]:
            base = '' if path == 'vmlinux' else self.btf.vmlinux
            written = self.step.written(path)
            final = self.step.final(written, path, base)
            self.btf.ok(f'{path}: its BTF is what resolve_btfids makes of what btf-pahole writes',
                        final.read_bytes() == self.btf.contents_of(self.tree.build / path))
            self.fixpoint(path, written, base)
        self.bases()

    def fixpoint(self, path, written, base):
        """btf__dedup() finds no duplicate types in `written`, the BTF that btf-pahole wrote."""
        result = self.step.deduplicated(written, base)
        self.btf.compare(f"{path}: the same types after libbpf's dedup", written, result,
                         *([f'--base-a={base}', f'--base-b={base}'] if base else []))
        before, after = Parts(written.read_bytes()), Parts(result.read_bytes())
        self.btf.ok(f"{path}: except for unused strings, not smaller after libbpf's dedup",
                    len(before.types) == len(after.types)
                    and len(before.strings) >= len(after.strings),
                    f'{len(before.types)} {len(after.types)} bytes of types, '
                    f'{len(before.strings)} {len(after.strings)} of strings')

    def kfuncs(self):
        """In vmlinux, each kfunc that resolve_btfids finds has a FUNC with the tag bpf_kfunc; no other FUNC has it."""
        _, said = self.step.resolve(self.step.written('vmlinux'), self.step.linked('vmlinux'), '-v')
        found = set(re.findall(r'^found kfunc (\S+) in ', said, re.M))
        warnings = re.findall(r'^WARN: .* kfunc .*', said, re.M)
        text = command([self.btf.dump_tool, 'raw', self.btf.vmlinux])
        functions = dict(re.findall(r"^\[(\d+)\] FUNC '(.*?)'", text, re.M))
        tagged = {functions.get(number, number)
                  for number in re.findall(r"DECL_TAG 'bpf_kfunc' type_id=(\d+)", text)}
        self.btf.ok(f'vmlinux: its {len(found)} kfuncs have a FUNC with the tag',
                    len(found) > 100 and not warnings and tagged == found,
                    '\n'.join(warnings[:5] + sorted(found ^ tagged)[:5]))

    def bases(self):
        """btf-pahole writes the same bytes for a module over each form of the base: vmlinux, raw BTF, raw BTF with a
        layout section (from 7.1 on, all forms have one), a section that is not allocated. In all forms, types are in
        the order of resolve_btfids."""
        path = next(path for path in self.tree.modules() if path.endswith('/veth.ko'))
        expected = self.step.written(path).read_bytes()
        blob = self.btf.contents_of(self.btf.vmlinux)
        raw = self.btf.results / 'base.btf'
        raw.write_bytes(blob)
        with_layout = self.btf.results / 'base-layout.btf'
        with_layout.write_bytes(Parts(blob).with_layout())
        not_allocated = self.btf.results / 'base.o'
        command([self.btf.objcopy, '--remove-section=.BTF', f'--add-section=.BTF={raw}',
                 self.step.host_object, not_allocated])
        for what, base in (('a file of its own', raw), ('one with a layout section', with_layout),
                           ('in a section that is not allocated', not_allocated)):
            self.btf.ok(f'{path}: the same bytes over another form of base: {what}',
                        self.step.written(path, base).read_bytes() == expected)

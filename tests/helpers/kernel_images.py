# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Writes the file formats that firmware and boot loaders need around a kernel."""
import struct

from helpers.kernel_packages import COMPRESSIONS, RELEASE, with_size


def padded(data, block):
    return data + bytes(-len(data) % block)


def uki(image, release=RELEASE, sections=('.osrel', '.uname', '.linux'), more=()):
    """A unified kernel image: an EFI program with `sections`, and with `more` sections (name, contents)."""
    contents = {'.osrel': b'ID=test\n', '.uname': release.encode(), '.linux': image}
    at, table, data = 1024, b'', b''
    named = [(name, contents[name]) for name in sections] + list(more)
    for name, content in named:
        block = padded(content, 512)
        table += struct.pack('<8s6I2HI', name.encode(), len(content), 0x1000 * (1 + len(table)),
                             len(block), at + len(data), 0, 0, 0, 0, 0)
        data += block
    head = b'MZ'.ljust(0x3c, b'\0') + struct.pack('<I', 0x80)
    head = head.ljust(0x80, b'\0') + b'PE\0\0'
    head += struct.pack('<2H3I2H', 0x8664, len(named), 0, 0, 0, 240, 0) + bytes(240) + table
    return head.ljust(at, b'\0') + data


def uimage(payload, kind=2):
    """A uImage. `kind` is 2 (kernel), 3 (ramdisk), or 4 (several files, the first is the kernel)."""
    if kind == 4:
        payload = struct.pack('>3I', len(payload), 5, 0) + padded(payload, 4) + b'other'
    return struct.pack('>7I4B32s', 0x27051956, 0, 0, len(payload), 0, 0, 0, 5, 22, kind, 1,
                       b'Linux') + payload


def boot_img(kernel, version, page=4096):
    """Android's boot.img."""
    if version < 3:
        head = struct.pack('<8s10I', b'ANDROID!', len(kernel), 0, 6, 0, 0, 0, 0, page, version, 0)
    else:
        head = struct.pack('<8s4I16xI', b'ANDROID!', len(kernel), 6, 0, 1580, version)
    return padded(head, page) + padded(kernel, page) + b'initrd'


def arm_image(btf):
    """The memory image of a 32-bit kernel, which has no header."""
    return bytes(32) + b'Linux version 6.12.0-test (a@b)\0' + btf + bytes(1000)


def zimage(image, kind, order='<'):
    """Arm's zImage: a header, the code that unpacks the kernel, the compressed kernel, a table that says where the
    compressed kernel ends, and a device tree. The code contains bytes that look like the beginning of compressed
    data."""
    code = b'\x1f\x8b\x08 no gzip \x5d\x00\x00 \xfd7zXZ\0'.ljust(256, b'\0')
    payload = with_size(COMPRESSIONS[kind](image), image, kind)
    size_at = 0x40 + len(code) + len(payload) - 4
    table_at = (size_at + 4 + 3) // 4 * 4
    table = struct.pack(order + '4I', 4, 0x5a534c4b, size_at, 0)
    end = table_at + len(table)
    head = bytes(0x24) + struct.pack(order + '6I', 0x016f2818, 0, end, 0x04030201, 0x45454545, table_at)
    return padded(head.ljust(0x40, b'\0') + code + payload, 4) + table + b'dtb'


def s390_image(image, kind, trailer=True):
    """s390x's Image. `kind`: the compression, or None. `trailer`: with the trailer for secure boot that Linux 6.1 and
    newer have."""
    code = b'\x1f\x8b\x08 no gzip '.ljust(256, b'\0')
    payload = with_size(COMPRESSIONS[kind](image), image, kind) if kind else image
    whole = b''.ljust(0x10000, b'\0') + b'\xa7\xf4\0\x10\0\0\0\0S390EP\0\1' + code + payload
    return padded(whole + bytes(32), 4096)[:-32] + (bytes(24) + b'\0\0\0\x20zIPL' if trailer else bytes(32))


class Tree:
    """Writes a flattened device tree."""

    def __init__(self):
        self.nodes, self.names = b'', b''

    def node(self, name, properties, children=()):
        self.nodes += struct.pack('>I', 1) + padded(name.encode() + b'\0', 4)
        for key, value in properties.items():
            if isinstance(value, str):
                value = value.encode() + b'\0'
            elif isinstance(value, int):
                value = struct.pack('>I', value)
            self.nodes += struct.pack('>3I', 3, len(value), len(self.names)) + padded(value, 4)
            self.names += key.encode() + b'\0'
        for child in children:
            self.node(*child)
        self.nodes += struct.pack('>2I', 4, 2) # NOP, end of the node

    def whole(self):
        nodes = self.nodes + struct.pack('>I', 9)
        at = 40 + 16
        return struct.pack('>10I', 0xd00dfeed, at + len(nodes) + len(self.names), at, at + len(nodes),
                           40, 17, 16, 0, len(self.names), len(nodes)) + bytes(16) + nodes + self.names


def fit(kernel, external=False, chosen='conf-2'):
    """A FIT with two kernels: `kernel` in configuration conf-2, other data in conf-1. `chosen`: the default
    configuration. `external`: the data of `kernel` come after the device tree, not inside it."""
    def place(data):
        return {'data-offset': 8, 'data-size': len(data)} if external else {'data': data}
    tree = Tree()
    tree.node('', {'description': 'test'}, [
        ('images', {}, [('fdt-1', {'type': 'flat_dt', 'data': b'tree'}),
                        ('other', {'type': 'kernel', 'data': b'other'}),
                        ('kernel-1', {'type': 'kernel', **place(kernel)}, [('hash-1', {'algo': 'crc32'})])]),
        ('configurations', {'default': chosen}, [('conf-1', {'kernel': 'other'}),
                                                 ('conf-2', {'kernel': 'kernel-1'})])])
    return padded(tree.whole(), 4) + (bytes(8) + kernel if external else b'')

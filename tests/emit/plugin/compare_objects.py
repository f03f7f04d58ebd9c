#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The oracle of the gcc plugin. Objects compiled by gcc -g with the plugin have DWARF and the plugin's object BTF.
btf-emit makes object BTF from the DWARF. The two object BTFs must have the same meaning.

usage: compare_objects.py [-v] [--features=BITS] BTF_EMIT OBJECT...

Prints sums, and the types that one side (DWARF or plugin) has in some object and the other in none; with -v, also the
differences of each object. Exit status 1 if types or variables of an object differ, if an object has no DWARF, or if
btf-emit fails. Functions may differ (docs/differences.md explains which). BITS are the features with which the plugin
ran (common/object_btf/features.h); default: those of btf-cc, 0x1ff."""
import collections
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
from helpers import object_btf as ob  # noqa: E402
from helpers.usage import check_arguments  # noqa: E402

# In the order of their bits.
FEATURES = ['encode_force', 'var', 'float', 'decl_tag', 'type_tag', 'enum64', 'optimized_func',
            'consistent_func', 'decl_tag_kfuncs', 'reproducible_build', 'global_var']
# gcc's DWARF has these types, which gcc uses in its own expressions, although the source does not name them.
ARTIFACTS = {'INT ssizetype', 'INT sizetype'}
CHANGED = ob.UNEXPECTED | ob.OPTIMIZED | ob.UNCERTAIN | ob.REORDERED


class NotComparable(Exception):
    """The object has no DWARF, or btf-emit fails."""


def is_changed(f, of):
    """True if btf-merge would leave the function out because of its flags. OPTIMIZED counts only if the object has a
    clone of the function (.isra or .constprop)."""
    return bool(f.flags & (CHANGED if f.name in of.cloned else CHANGED & ~ob.OPTIMIZED))


def judged(of):
    """Returns function name -> set of 'kept' and 'left out', the judgements of the function's instances with code."""
    result = collections.defaultdict(set)
    for f in of.functions:
        if f.flags & (ob.ADDRESS | ob.RANGES):
            result[f.name].add('left out' if is_changed(f, of) else 'kept')
    return result


def compare(path, by_dwarf, by_plugin, total, say):
    for side, ours, others in (('missing', by_dwarf, by_plugin), ('more', by_plugin, by_dwarf)):
        for value, head in ours.types.items():
            if value not in others.types and head not in ARTIFACTS:
                total[side] += 1
                say(f'{path}: {side}: {head}')
    total['types'] += len(by_dwarf.types)
    if by_dwarf.variables != by_plugin.variables:
        total['variables'] += 1
        say(f'{path}: variables: {by_dwarf.variables - by_plugin.variables} '
            f'{by_plugin.variables - by_dwarf.variables}')
    theirs, ours = judged(by_dwarf), judged(by_plugin)
    total['functions'] += len(theirs)
    for name in sorted(theirs.keys() | ours.keys()):
        if theirs.get(name) != ours.get(name):
            total['judged otherwise'] += 1
            say(f'{path}: function {name}: DWARF {sorted(theirs.get(name, ["none"]))}, '
                f'plugin {sorted(ours.get(name, ["none"]))}')
    both_keep = {n for n in theirs if theirs[n] == ours.get(n) == {'kept'}}
    protos = [collections.Counter((f.name, f.loose_hash) for f in side.functions
                                  if f.flags & (ob.ADDRESS | ob.RANGES) and not is_changed(f, side)
                                  and f.name in both_keep)
              for side in (by_dwarf, by_plugin)]
    if protos[0] != protos[1]:
        total['prototypes'] += 1
        say(f'{path}: prototypes: {[n for n, _ in (protos[0] - protos[1])]} '
            f'{[n for n, _ in (protos[1] - protos[0])]}')


def compare_with_dwarf(emit, bits, path, total, say):
    """Compares the plugin's BTF in an object with that from the object's DWARF: adds to `total`, and calls say() for
    each difference. Returns both object BTFs, that from DWARF first."""
    features = ','.join(name for bit, name in enumerate(FEATURES) if bits >> bit & 1)
    by_plugin = ob.ObjectBtf(path)
    if not by_plugin.has_dwarf: # the plugin's BTF would be compared with itself
        raise NotComparable(f'{path}: no debug information')
    with tempfile.TemporaryDirectory() as folder:
        again = os.path.join(folder, 'again.o')
        done = subprocess.run([emit, '-q', f'--features={features}', '--address-pool', '-o', again, path],
                              capture_output=True, text=True)
        if done.returncode:
            raise NotComparable(f'{path}: {done.stderr.strip()}')
        by_dwarf = ob.ObjectBtf(again)
    compare(path, by_dwarf, by_plugin, total, say)
    total['objects'] += 1
    return by_dwarf, by_plugin


def main():
    check_arguments(__doc__, 2)
    arguments = sys.argv[1:]
    verbose = arguments[:1] == ['-v']
    arguments = arguments[verbose:]
    bits = 0x1ff
    if arguments[0].startswith('--features='):
        bits = int(arguments.pop(0).split('=')[1], 0)
    emit, *objects = arguments
    total = collections.Counter()
    all_types = [set(), set()]
    for path in objects:
        try:
            sides = compare_with_dwarf(emit, bits, path, total, print if verbose else lambda _: None)
        except NotComparable as reason:
            total['not comparable'] += 1
            print(reason)
            continue
        for side, of in zip(all_types, sides):
            side.update((v, h) for v, h in of.types.items() if h not in ARTIFACTS)
    for side, only in (('missing', all_types[0] - all_types[1]), ('more', all_types[1] - all_types[0])):
        total[f'{side} in all'] = len(only)
        for _, head in sorted(only):
            print(f'{side} in all objects: {head}')
    print(', '.join(f'{key}: {value}' for key, value in total.items()))
    sys.exit(1 if any(total[what] for what in ('missing', 'more', 'variables', 'not comparable')) else 0)


if __name__ == '__main__':
    main()

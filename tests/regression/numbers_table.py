# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Numbers of the regression list that tests elsewhere hold: which of them.

  ('dwarf', FILE, NAME...)             cases of tests/emit/dwarf/FILE.py, by pattern
  ('gtest', PROGRAM, TEST...)          tests of tests/PROGRAM
  ('script', PROGRAM, TOOLS, TEST...)  tests of a Python program under tests/
"""
LAST = 60

EMIT_TOOLS = ('emit/btf-emit', 'tests/emit/btf-lines')
PAHOLE_TOOLS = ('kbuild-integration/btf-pahole', 'kbuild-integration/btf-cc', 'emit/btf-emit',
                'merge/btf-merge')

NUMBERS = {
    4: [('dwarf', 'plain-types', 'base type of *', 'odd size with the bytes of the unit',
         'base type without a size')],
    7: [('dwarf', 'plain-types', 'pointer chain, qualifiers in order')],
    8: [('dwarf', 'plain-types', 'unspecified type is void'),
        ('dwarf', 'composites', 'nested unspecified type takes no id'),
        ('dwarf', 'functions', 'unspecified type as result')],
    11: [('dwarf', 'composites', 'member location by implicit_const', 'member location by indirect'),
         ('dwarf', 'plain-types', '*by implicit_const*')],
    17: [('dwarf', 'composites', 'Rust: *'),
         ('dwarf', 'units', 'excluded language*')],
    18: [('dwarf', 'plain-types', 'atomic*', 'references are pointers', 'complex float*')],
    19: [('dwarf', 'functions', 'unnamed parameter', 'declaration')],
    28: [('dwarf', 'functions', '*entry value*', '*location list*', 'only the first entry counts',
          'register in the second entry only')],
    30: [('dwarf', 'functions', 'one optimized out, the others in their place',
          'no location', 'behind the last register anything goes')],
    32: [('dwarf', 'functions', 'reordered parameters', 'a parameter of the origin is missing*'),
         ('gtest', 'merge/test-merge-functions', 'Functions.FlagsOfAllInstancesCount')],
    34: [('dwarf', 'functions', 'no name', 'nothing at all is said', 'origin is nowhere')],
    36: [('dwarf', 'units', 'merged functions share one origin'),
         ('dwarf', 'functions', 'name from the specification, the result not')],
    37: [('dwarf', 'functions', 'concrete before abstract', 'concrete behind abstract')],
    39: [('dwarf', 'functions', 'clang for riscv64*', 'clang for ppc64le*', 'clang: another register')],
    43: [('dwarf', 'variables', 'filtered name*', 'invalid name*')],
    45: [('script', 'emit/link-test.py', EMIT_TOOLS, 'ManySections.test_many_sections'),
         ('gtest', 'merge/test-merge-output', 'Update.ManySections')],
    46: [('dwarf', 'variables', 'address and plus_uconst', 'addrx*', 'plus_uconst twice')],
    47: [('dwarf', 'variables', 'register', 'thread-local*', 'artificial', 'larger than 4 GB')],
    48: [('dwarf', 'variables', 'void', 'void without encode_force',
          'type that BTF cannot express')],
    52: [('gtest', 'merge/test-merge-text-cases', '*/split', '*/split_*'),
         ('gtest', 'merge/test-merge-inputs', 'Inputs.SplitOverABase')],
    53: [('gtest', 'merge/test-merge-text-cases', '*/distilled', '*/distilled_function',
          'DistilledBase.*')],
    54: [('script', 'emit/cli-test.py', EMIT_TOOLS, 'Output.test_detached_is_cut',
          'Output.test_other_options_replace'),
         ('gtest', 'merge/test-merge-output', 'Update.BaseComesAndGoes', 'Update.ImagesInPlace')],
    55: [('gtest', 'merge/test-merge-inputs', 'Inputs.BigEndianBlobs',
          'Inputs.RawBlobsOf32BitTargets'),
         ('gtest', 'unit/test-btf_check', 'BtfCheck.BothByteOrders', 'BtfCheck.PointersOf32BitTargets')],
    56: [('script', 'emit/link-test.py', EMIT_TOOLS, 'Image.test_threads_and_an_error'),
         ('script', 'emit/cli-test.py', EMIT_TOOLS, 'Output.test_without_dwarf',
          'Output.test_several_files')],
    57: [('script', 'emit/link-test.py', EMIT_TOOLS, 'Image.test_threads'),
         ('gtest', 'merge/test-merge-inputs', 'Inputs.ThreadsDoNotMatter')],
    58: [('dwarf', 'units', 'LTO note*', 'references between units make them one',
          'reference to a unit before')],
    59: [('gtest', 'kbuild/test-pahole_options', 'PaholeOptions.LegacyFeatures',
          'PaholeOptions.FeatureLists', 'PaholeOptions.Values')],
    60: [('dwarf', 'units', 'unknown tags and attributes', 'partial unit is skipped',
          'reference into a partial unit is void', 'skeleton unit is skipped',
          'imported unit is no type'),
         ('dwarf', 'composites', 'variant part is passed over')],
}

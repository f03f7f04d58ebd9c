# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""How tests begin and end: what they answer to --help and too few arguments, and their exit status."""
import sys
import unittest


def check_arguments(text, least):
    """Prints `text` and exits: with status 0 if the first argument is --help or -h, with status 2 for fewer than
    `least` arguments. Otherwise returns."""
    if sys.argv[1:2] in (['--help'], ['-h']):
        print(text.strip())
        sys.exit(0)
    if len(sys.argv) <= least:
        print(text.strip(), file=sys.stderr)
        sys.exit(2)


def run_and_exit(module, arguments):
    """Runs the tests of `module` with unittest's `arguments`, prints the reasons of skipped ones, and exits. Exit
    status: 0; 1 if a test failed or there was no test; 77 if all tests were skipped."""
    result = unittest.main(module, argv=sys.argv[:1] + arguments, exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print(f'SKIP {test}: {reason}')
    if not result.wasSuccessful() or not (result.testsRun or result.skipped):
        sys.exit(1)
    # Only skipped tests count. A skipped subtest (it has a `test_case`) is a part of a test that ran. If setUpClass()
    # skips a class, unittest lists an object that is not a TestCase, and testsRun has none of the class's tests.
    skipped = [test for test, _ in result.skipped
               if isinstance(test, unittest.TestCase) and not hasattr(test, 'test_case')]
    sys.exit(77 if len(skipped) == result.testsRun else 0)

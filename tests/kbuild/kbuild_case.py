# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What the tests of btf-cc and btf-pahole share: their runs, compilers that misbehave, sections."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'emit'))

import cli_case  # noqa: E402
from btf_reader import Elf  # noqa: E402
from cli_case import PROGRAM  # noqa: E402, F401
from compilers import target_of  # noqa: E402, F401

TOOLS = ('btf_cc', 'btf_pahole', 'btf_emit', 'btf_dump', 'btf_compare')
# Settings of whoever runs the tests must not be ours.
FOREIGN = ('BTF_CC_', 'BTF_PAHOLE_', 'PAHOLE_', 'GCC_', 'CCACHE_')


class KbuildCase(cli_case.CliCase):
    btf_cc = btf_pahole = btf_dump = btf_compare = None  # set by run()

    def environment(self, settings=None):
        """Ours, with LANG=C and nothing set but `settings`; None takes a variable out."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        clean['LC_ALL'] = 'C'
        clean.update(settings or {})
        return {k: v for k, v in clean.items() if v is not None}

    def run_tool(self, *command, settings=None, **options):
        options = {'text': False, 'env': self.environment(settings), **options}
        return self.call(*command, **options)

    def cc(self, *arguments, settings=None, **options):
        """btf-cc's end: its status, standard output and error as bytes."""
        done = self.run_tool(self.btf_cc, *arguments, settings=settings, **options)
        return done.returncode, done.stdout, done.stderr

    def script(self, name, text):
        """A program in the test's folder; its path."""
        self.write(name, text)
        os.chmod(self.path(name), 0o755)
        return self.path(name)

    def section(self, name, section='.BTF'):
        return Elf(self.path(name)).get(section)

    def section_names(self, name):
        return {section.name for section in Elf(self.path(name)).sections}

    def has_object_btf(self, name):
        done = subprocess.run([self.btf_dump, '--trailer', self.path(name)], check=False,
                              capture_output=True)
        return done.returncode == 0

    def dump(self, name, base=None):
        """The BTF of a file, as lines."""
        options = ['--base', base] if base else []
        return self.must(self.btf_dump, *options, 'raw', name).splitlines()

    def same_meaning(self, a, b, *options):
        done = self.call(self.btf_compare, '--deep', *options, a, b)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def run(module):
    """The program: arguments are the tools in the order of TOOLS, and names of tests."""
    cli_case.run(module, KbuildCase, TOOLS)

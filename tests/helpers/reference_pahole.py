# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The version of pahole that is the reference."""
import subprocess

REFERENCE = 132  # as --numeric_version prints it


def decides(pahole):
    """True if `pahole`, a command or None, is a pahole of the reference version or a newer one."""
    if not pahole:
        return False
    said = subprocess.run([pahole, '--numeric_version'], capture_output=True, text=True,
                          check=False).stdout.strip()
    return said.isdigit() and int(said) >= REFERENCE

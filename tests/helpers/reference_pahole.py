# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The pahole whose results decide: of which version it must be."""
import subprocess

REFERENCE = 132  # its numeric version


def decides(pahole):
    """Is there a pahole, and does it decide as the reference does?"""
    if not pahole:
        return False
    said = subprocess.run([pahole, '--numeric_version'], capture_output=True, text=True,
                          check=False).stdout.strip()
    return said.isdigit() and int(said) >= REFERENCE

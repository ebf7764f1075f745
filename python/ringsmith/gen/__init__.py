# SPDX-License-Identifier: Apache-2.0
"""Generated files: what every language shares is written once in `spec/` and printed from there.

`python -m ringsmith.gen` writes the files, `python -m ringsmith.gen --check` fails if one of them has drifted.
"""

# SPDX-License-Identifier: Apache-2.0
"""From a traced kernel to a program: `lowering` packs vectors into slots, `scheduling` places relinearisations,
rescales and levels, `params` chooses the parameter set by security and noise, `compile` runs them all."""

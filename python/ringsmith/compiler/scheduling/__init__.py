# SPDX-License-Identifier: Apache-2.0
"""From operations on slots to a circuit: where to relinearise, rescale and drop primes, for each scheme."""

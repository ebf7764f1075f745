# SPDX-License-Identifier: Apache-2.0
"""Write the payloads of the matches in order, or how many there are: `client_postprocess SIZE [--count_only]`."""

import numpy as np
from layout import stage
from similarity import SCALE, SIZES
from sizes import PAYLOAD

if __name__ == "__main__":
    with stage(SIZES) as folders:
        answers = np.load(folders.between / "answers.npy")
        if folders.counted:
            result = np.rint(answers.sum()).astype(np.int64)
        else:
            numbers = np.rint(answers.reshape(-1, PAYLOAD) * SCALE).astype(np.int16)
            matches = numbers[(numbers > 0).all(axis=1)] - np.int16(1)
            result = matches[np.lexsort(matches.T[::-1])]
        result.tofile(folders.io / "results.bin")

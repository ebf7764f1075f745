// SPDX-License-Identifier: Apache-2.0
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::target("program")(data));

// Half of the changes are those of a program's parts; the others are libFuzzer's own.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed = fuzz_targets::mutated_program(&data[..size], seed.into());
    if seed % 2 == 1 || changed.len() > max_size {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    data[..changed.len()].copy_from_slice(&changed);
    changed.len()
});

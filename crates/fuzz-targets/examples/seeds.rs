// SPDX-License-Identifier: Apache-2.0
//! Writes what each target accepts, for a fuzzer to start from: `seeds FOLDER` makes FOLDER/TARGET/seed-N.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).expect("the folder to write to");
    for (name, _) in fuzz_targets::TARGETS {
        let own = Path::new(&folder).join(name);
        std::fs::create_dir_all(&own)?;
        for (number, seed) in fuzz_targets::seeds(name).iter().enumerate() {
            std::fs::write(own.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

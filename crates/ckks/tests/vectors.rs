// SPDX-License-Identifier: Apache-2.0
//! The known answers in spec/vectors come out the same today.

#[path = "../examples/vectors.rs"]
mod generator;

#[test]
fn known_answers_have_not_changed() {
    for (name, levels, special, dnum) in generator::FILES {
        let path = format!("{}/../../spec/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
        let stored = std::fs::read_to_string(&path).expect(&path);
        let now = generator::file(levels, special, dnum).expect("the generator's own shapes");
        for (line, (a, b)) in stored.lines().zip(now.lines()).enumerate() {
            assert_eq!(a, b, "{name}:{}", line + 1);
        }
        assert_eq!(stored.len(), now.len(), "{name}");
    }
}

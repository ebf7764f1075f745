// SPDX-License-Identifier: Apache-2.0
//! Reader of `spec/vectors/sets.txt`, for the tests of client and C.

/// A set, and the word for what is said of it.
pub struct Case {
    pub name: String,
    pub n: usize,
    pub dnum: u32,
    pub data: Vec<u64>,
    pub special: Vec<u64>,
    pub t: u64,
    pub scale: f64,
    pub verdict: String,
}

/// All cases; a field that is missing or no number fails the test.
pub fn cases() -> Vec<Case> {
    let text = include_str!("../../../../spec/vectors/sets.txt");
    let found: Vec<Case> = text.split("\ncase: ").skip(1).map(case).collect();
    assert!(found.len() > 20);
    found
}

fn case(text: &str) -> Case {
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(key, _)| *key == name);
        found.unwrap_or_else(|| panic!("{name} in {text}")).1.trim()
    };
    let list = |name| {
        let words = field(name).split_whitespace();
        words.map(|word| word.parse().unwrap()).collect()
    };
    Case {
        name: text.lines().next().unwrap().into(),
        n: field("n").parse().unwrap(),
        dnum: field("dnum").parse().unwrap(),
        data: list("data"),
        special: list("special"),
        t: field("t").parse().unwrap(),
        scale: field("scale").parse().unwrap(),
        verdict: field("verdict").into(),
    }
}

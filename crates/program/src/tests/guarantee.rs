// SPDX-License-Identifier: Apache-2.0
//! Guarantees are held against the noise estimates, and values against the promises made of them.

use super::*;

/// Large enough that contrived plaintexts exceed ordinary ones.
const DEGREE: usize = 1024;

fn rlwe(q: Vec<u64>, p: Vec<u64>) -> RlweParamsLiteral<u64> {
    RlweParamsLiteral {
        n: DEGREE,
        q,
        p,
        ..Default::default()
    }
}

fn parameters(bfv: bool) -> Parameters {
    let (q, p) = ckks::prime_chain(DEGREE, 50, 30, 2, 50, 1).unwrap();
    let (rlwe, policy) = (rlwe(q, p), SecurityPolicy::insecure());
    if bfv {
        let literal = BfvParamsLiteral {
            rlwe,
            plain_modulus: 12289,
            auxiliary: vec![],
        };
        Parameters::Bfv(BfvParams::new(&literal, policy).unwrap())
    } else {
        let scale = 2.0_f64.powi(30);
        Parameters::Ckks(CkksParams::new(&CkksParamsLiteral { rlwe, scale }, policy).unwrap())
    }
}

/// 3·(x·w·c) + c with an argument w and a constant c, and a promise about some slots.
pub(super) fn scaled(bfv: bool, constant: Numbers) -> Program {
    let parameters = parameters(bfv);
    let slots = parameters.slots() as u32;
    let (primes, scale) = (parameters.primes(), parameters.scale());
    let mut program = sample(parameters);
    program.arguments[0].shape = vec![slots];
    program.arguments[0].secrecy = Secrecy::Encrypted(IndexMap::identity(slots as usize).unwrap());
    program.arguments[1].shape = vec![slots];
    let expression = |operation, shape| Expression { operation, shape };
    let three = match bfv {
        true => Numbers::Integers(vec![3]),
        false => Numbers::Reals(vec![3.0]),
    };
    program.expressions = vec![
        expression(PlainOp::Argument(0), vec![slots]),
        expression(PlainOp::Constant(constant), vec![slots]),
        expression(PlainOp::Constant(three), vec![]),
    ];
    let plaintext = |number, bound, slots| PlaintextSource {
        expression: number,
        slots,
        bound,
    };
    let (each, one) = (
        IndexMap::identity(slots as usize).unwrap(),
        IndexMap::new((0..slots).map(|_| Some(0))).unwrap(),
    );
    let largest = if bfv { 6144.0 } else { 1.5 };
    program.plaintexts = vec![
        plaintext(0, largest, each.clone()),
        plaintext(1, largest, each),
        plaintext(2, 3.0, one),
    ];
    program.steps.clear();
    program.transforms.clear();
    let mut level = primes.len() as u32 - 1;
    let mut now = scale;
    let mut step = |operation, level, scale| {
        let (size, place) = (2, Place::default());
        let number = program.steps.len() as u32;
        program.steps.push(Step {
            operation,
            level,
            scale,
            size,
            place,
        });
        number
    };
    let encoded = |number, scale| Plaintext { number, scale };
    let mut at = step(Operation::Input, level, now);
    for number in [0, 1] {
        now *= scale;
        at = step(
            Operation::MultiplyPlain(at, encoded(number, scale)),
            level,
            now,
        );
        if !bfv {
            now /= primes[level as usize] as f64;
            level -= 1;
            at = step(Operation::Rescale(at), level, now);
        }
    }
    at = step(Operation::MultiplyPlain(at, encoded(2, 1.0)), level, now);
    let promise = Promise::of_values(2.0, false);
    at = step(Operation::Within(at, promise), level, now);
    at = step(Operation::AddPlain(at, encoded(1, now)), level, now);
    program.outputs = vec![at];
    program.guarantee.bits = promised(&program);
    program
}

pub(super) fn reals() -> Numbers {
    Numbers::Reals((0..DEGREE / 2).map(|i| (i as f64).sin()).collect())
}

pub(super) fn integers() -> Numbers {
    let some = |i| (i * i * 7919 + 3 * i) % 12289 - 6144;
    Numbers::Integers((0..DEGREE as i64).map(some).collect())
}

/// Values whose encoding is as harmful as any: every coefficient is rounded, or as large as can be, in the sense that
/// adds up at one root.
fn contrived(parameters: &Parameters) -> Numbers {
    let half = DEGREE / 2;
    // Odd around half the degree: such polynomials have real slots.
    let odd = |j: usize, value: f64| match j % half {
        0 => 0.0,
        _ if j < half => value,
        _ => -value,
    };
    let coefficients = |value: f64| (0..DEGREE).map(|j| odd(j, value)).collect::<Vec<f64>>();
    match parameters {
        Parameters::Ckks(p) => {
            let slots = p
                .embedding()
                .to_slots(&coefficients(0.499), half, p.scale())
                .unwrap();
            Numbers::Reals(slots.iter().map(|z| z.re).collect())
        }
        Parameters::Bfv(p) => {
            let largest: Vec<i64> = coefficients(6144.0).iter().map(|&c| c as i64).collect();
            let plaintext = bfv::Plaintext::from_signed(p, &largest).unwrap();
            let slots = bfv::BatchEncoder::new(p)
                .unwrap()
                .decode_signed(&plaintext)
                .unwrap();
            Numbers::Integers(slots)
        }
        Parameters::BfvWide(_) => unreachable!("no such set is made here"),
    }
}

/// Programs with ordinary constants that promise as much as holds for ordinary arguments.
fn exact() -> [Program; 2] {
    [scaled(false, reals()), scaled(true, integers())]
        .map(|program| promising(program, Assume::None))
}

fn promising(mut program: Program, assume: Assume) -> Program {
    program.guarantee.bits = program.bound(assume, None).unwrap().bits;
    program
}

pub(super) fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

/// How a program changed by `lie` is refused.
fn lied(program: &Program, lie: impl Fn(&mut Program)) -> String {
    let mut program = program.clone();
    lie(&mut program);
    refused(read(&program.to_bytes()))
}

#[test]
fn bounds_are_those_the_compiler_finds() {
    // Of python/ringsmith/compiler/params/noise.py, for Assume::None, Constants and All.
    let known = [
        [-11.186035422784512, -11.17946390835615, -11.173769771879575],
        [45.14125049857747, 42.5555989152955, 39.96994733201351],
    ];
    for (program, known) in exact().iter().zip(known) {
        for (assume, bits) in [Assume::None, Assume::Constants, Assume::All]
            .into_iter()
            .zip(known)
        {
            let found = program.bound(assume, None).unwrap().bits;
            assert!(
                (found - bits).abs() < 1e-9,
                "{assume:?}: {found}, not {bits}"
            );
        }
    }
    let small = [
        (-6.472740755897211, -3.476435666028884, 17),
        (26.969763317364134, f64::NEG_INFINITY, 16),
    ];
    for (program, (bits, overflow_bits, step)) in both().iter().zip(small) {
        let found = program.bound(Assume::None, None).unwrap();
        assert!((found.bits - bits).abs() < 1e-9, "{found:?}");
        assert!(
            found.overflow_bits == overflow_bits
                || (found.overflow_bits - overflow_bits).abs() < 1e-9,
            "{found:?}"
        );
        assert_eq!(found.step, step);
    }
}

#[test]
fn a_promise_better_than_the_estimate_is_refused() {
    for (program, better) in exact().iter().zip([-0.001, 0.001]) {
        read(&program.to_bytes()).unwrap();
        let text = lied(program, |p| p.guarantee.bits += better);
        assert!(
            text.contains("promises more than the engine's own estimate"),
            "{text}"
        );
        // Fewer failures are harder to promise.
        let text = lied(program, |p| p.guarantee.failure_bits = 41);
        assert!(text.contains("promises more"), "{text}");
        let mut modest = program.clone();
        modest.guarantee.bits -= 10.0 * better;
        read(&modest.to_bytes()).unwrap();
    }
    let [ckks, bfv] = exact();
    let text = lied(&ckks, |p| p.plaintexts[0].bound *= 2.0);
    assert!(text.contains("promises more"), "{text}");
    let text = lied(&ckks, |p| {
        p.arguments[0].range = Range::Reals {
            low: -4.0,
            high: 0.0,
        }
    });
    assert!(text.contains("promises more"), "{text}");
    // A slot that is left out, and 3 is no factor any more.
    let text = lied(&bfv, |p| {
        p.plaintexts[2].slots =
            IndexMap::new((0..DEGREE as u32).map(|i| (i > 0).then_some(0))).unwrap();
    });
    assert!(text.contains("promises more"), "{text}");
}

#[test]
fn what_was_asked_for_is_kept() {
    let [ckks, bfv] = exact();
    let text = lied(&ckks, |p| p.guarantee.tolerance = 1e-4);
    assert_eq!(
        text,
        "a result's error may reach 0.000429, the tolerance is 0.0001"
    );
    let published = |p: &mut Program| {
        p.guarantee.failure_bits = 128;
        p.guarantee.publish = true;
        p.guarantee.bits = p.bound(Assume::None, None).unwrap().bits;
    };
    let text = lied(&ckks, published);
    assert!(text.contains("the tolerance is 0.25"), "{text}");
    // The room that publication takes, as compiler/params/noise.py has it.
    let mut roomy = ckks.clone();
    published(&mut roomy);
    let needed = (roomy.guarantee.bits + 30.077114105368395).exp2();
    roomy.guarantee.tolerance = needed * (1.0 + 1e-9);
    read(&roomy.to_bytes()).unwrap();
    let text = lied(&roomy, |p| p.guarantee.tolerance = needed * 0.999);
    assert!(text.contains("the tolerance is"), "{text}");
    let mut roomy = bfv.clone();
    published(&mut roomy);
    read(&roomy.to_bytes()).unwrap();
    let text = lied(&roomy, |p| p.guarantee.bits = 31.17);
    assert_eq!(
        text,
        "publishing a result takes 31.17 bits of noise budget, the program promises 31.17"
    );
}

#[test]
fn a_promise_about_errors_bounds_what_follows_where_it_may_be_made() {
    let [ckks, bfv] = exact();
    let with = |program: &Program, error: f64| {
        let mut program = program.clone();
        let promise = Promise {
            error,
            ..Promise::of_values(100.0, false)
        };
        let same = |s: &Step| matches!(s.operation, Operation::Within(..));
        let number = program.steps.iter().position(same).unwrap();
        let (operands, _) = program.steps[number].operation.operands();
        program.steps[number].operation = Operation::Within(operands[0], promise);
        program
    };
    let bits = |error: f64| with(&ckks, error).bound(Assume::None, None).unwrap().bits;
    let found = bits(f64::INFINITY);
    assert_eq!(bits(1e3), found);
    assert!(bits(f64::exp2(found - 4.0)) < found - 1.0);
    let small = promising(with(&ckks, f64::exp2(found - 4.0)), Assume::None);
    assert_eq!(read(&small.to_bytes()).unwrap(), small);
    for error in [0.0, -1.0, f64::NAN] {
        let text = refused(read(&with(&ckks, error).to_bytes()));
        assert!(text.contains("errors stay within"), "{text}");
    }
    let text = refused(read(&with(&bfv, 1.0).to_bytes()));
    assert!(text.contains("a promise about errors, which BFV"), "{text}");
    let mut published = small;
    (
        published.guarantee.publish,
        published.guarantee.failure_bits,
    ) = (true, 128);
    let text = refused(read(&published.to_bytes()));
    assert!(text.contains("would give the key away"), "{text}");
}

#[test]
fn a_step_that_overflows_is_refused_at_its_place() {
    let [ckks, _] = exact();
    let large = |high, everywhere| {
        let mut program = ckks.clone();
        program.arguments[0].range = Range::Reals { low: 0.0, high };
        let promise = Promise::of_values(2.0, everywhere);
        program.steps[6].operation = Operation::Within(5, promise);
        // Whatever the error, the program may promise it.
        program.guarantee.tolerance = 1e9;
        promising(program, Assume::None)
    };
    let text = refused(read(&large(1e8, false).to_bytes()));
    assert!(
        text.contains("bits more than the modulus has at level 0 (scale 2^30.0)"),
        "{text}"
    );
    assert!(text.starts_with("step 7 (add_plain"), "{text}");
    // A promise about some slots bounds the error, but the others fill their ciphertext all the same.
    let fullest = |everywhere| large(100.0, everywhere).bound(Assume::None, None).unwrap();
    assert_eq!((fullest(true).step, fullest(false).step), (5, 7));
    assert_eq!(fullest(true).bits, fullest(false).bits);
}

#[test]
fn plaintexts_that_bear_on_the_noise_are_listed_once() {
    let [ckks, bfv] = exact();
    let scale = ckks.parameters.scale();
    // The factor 3 is exact; the sum takes the constant at another scale.
    assert_eq!(
        ckks.encodings(),
        [(0, scale, 2), (1, scale, 1), (1, ckks.steps[7].scale, 0)]
    );
    assert_eq!(bfv.encodings(), [(0, 1.0, 2), (1, 1.0, 2)]);
}

#[test]
fn contrived_constants_need_a_promise_for_the_worst() {
    for exact in [false, true] {
        let program = scaled(exact, contrived(&parameters(exact)));
        let text = refused(read(&promising(program.clone(), Assume::None).to_bytes()));
        assert!(
            text.starts_with("sample: the values of a constant "),
            "{text}"
        );
        read(&promising(program, Assume::Constants).to_bytes()).unwrap();
    }
}

#[test]
fn contrived_arguments_are_refused_unless_there_is_room_for_the_worst() {
    let harms = [
        "lose up to 325 units of their scale in rounding, ordinary values at most 54.4: \
         the error might exceed 0.000429, which is promised",
        "multiply noise by up to 2^21.9, ordinary values by at most 2^19.4: \
         the result might decrypt wrongly (45.1 bits of noise budget are promised)",
    ];
    for (program, harm) in exact().into_iter().zip(harms) {
        let ordinary = match program.parameters.plain_modulus() {
            Some(_) => integers(),
            None => reals(),
        };
        let measured = |values| {
            let values = program.evaluate(&[values]).unwrap();
            program.measure(&values, &Threads::new(2).unwrap()).unwrap()
        };
        assert!(program.needs_measuring().unwrap());
        program.check_plaintexts(&measured(ordinary)).unwrap();
        let effects = measured(contrived(&program.parameters));
        assert!(effects.get(0, program.parameters.scale()).unwrap() > program.ordinary_effect());
        assert_eq!(
            refused(program.check_plaintexts(&effects)),
            format!(
                "sample: the values of w {harm}; make the kernel with worst_case=True, which makes room for any values"
            )
        );
        let roomy = promising(program, Assume::All);
        assert!(!roomy.needs_measuring().unwrap());
        roomy.check_plaintexts(&effects).unwrap();
    }
}

#[test]
fn values_are_held_against_what_was_declared() {
    let [ckks, bfv] = exact();
    let slots = |program: &Program, values| {
        let values = program.evaluate(&[values])?;
        program.slots(&values, 0)
    };
    let reals = |value: f64| {
        let mut values = vec![0.5; DEGREE / 2];
        values[7] = value;
        Numbers::Reals(values)
    };
    // Up to rounding.
    assert_eq!(
        slots(&ckks, reals(1.5 + 1e-10)).unwrap(),
        reals(1.5 + 1e-10)
    );
    assert_eq!(
        refused(slots(&ckks, reals(-1.75))),
        "sample: the values of w give plaintext 0 a slot of -1.75; the program was made for magnitudes of at most 1.5"
    );
    assert!(refused(slots(&ckks, reals(f64::NAN))).contains("a slot of NaN"));
    let mut narrow = bfv.clone();
    narrow.plaintexts[0].bound = 3.0;
    let integers = |value: i64| Numbers::Integers(vec![value; DEGREE]);
    // 12286 is −3 modulo t.
    assert_eq!(slots(&narrow, integers(12286)).unwrap(), integers(-3));
    assert!(refused(slots(&narrow, integers(4))).contains("a slot of 4;"));
    // A constant that exceeds its bound is found where constants are measured.
    let text = lied(&bfv, |p| p.plaintexts[1].bound = 5.0);
    assert!(
        text.contains("the values of a constant give plaintext 1 a slot of"),
        "{text}"
    );
}

#[test]
fn ciphertexts_under_an_extended_key_promise_more() {
    for public in [
        scaled(true, Numbers::Integers(vec![2])),
        scaled(false, Numbers::Reals(vec![1.5])),
    ] {
        let mut extended = public.clone();
        extended.encryption = Encryption::Extended;
        let extended = promising(extended, Assume::None);
        let gained = (extended.guarantee.bits - public.guarantee.bits).abs();
        let exact = public.parameters.plain_modulus().is_some();
        // Encoding what is encrypted rounds, too: in CKKS its worst case hides most of the gain.
        assert!(gained > if exact { 3.0 } else { 0.1 }, "{gained}");
        assert_eq!(read(&extended.to_bytes()).unwrap(), extended);
        let lie = Program {
            encryption: Encryption::Public,
            ..extended
        };
        let text = refused(read(&lie.to_bytes()));
        assert!(text.contains("promises more"), "{text}");
    }
}

#[test]
fn an_extended_key_needs_special_primes() {
    let Parameters::Bfv(params) = bfv_parameters() else {
        panic!("BFV")
    };
    let mut literal = params.literal();
    literal.rlwe.p.clear();
    let params = BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    let mut program = sample(Parameters::Bfv(params));
    program.check(&Limits::default()).unwrap();
    program.encryption = Encryption::Extended;
    let text = "extended public key needs special primes, the parameter set has none";
    let refused = program.check(&Limits::default()).unwrap_err().to_string();
    assert!(refused.contains(text), "{refused}");
    let bound = program
        .circuit()
        .bound(&program.estimator(), Strength::Certain, Assume::None);
    assert!(bound.unwrap_err().to_string().contains(text));
}

#[test]
fn arguments_of_another_kind_are_refused() {
    let [ckks, _] = exact();
    let wrong = |arguments: &[Numbers]| refused(ckks.evaluate(arguments));
    assert_eq!(wrong(&[]), "sample: 0 plain arguments; 1 are needed");
    assert_eq!(
        wrong(&[Numbers::Reals(vec![0.0])]),
        "sample: w has 1 values, its shape is [512]"
    );
    let whole = Numbers::Integers(vec![0; DEGREE / 2]);
    assert_eq!(wrong(&[whole]), "sample: w has to be of reals");
}

#[test]
fn a_part_that_differs_has_another_hash() {
    type Change = (&'static str, fn(&mut Program));
    let changes: [Change; 17] = [
        ("kernel", |p| p.name.push('s')),
        ("kernel", |p| p.guarantee.tolerance *= 2.0),
        ("kernel", |p| p.guarantee.failure_bits = 39),
        ("kernel", |p| p.arguments[1].name.push('s')),
        ("kernel", |p| p.arguments[1].shape = vec![1, 3]),
        ("encryption", |p| p.encryption = Encryption::Secret),
        ("encryption", |p| p.encryption = Encryption::Extended),
        ("circuit", |p| {
            p.steps[8].operation = Operation::Rotate(7, 1)
        }),
        ("circuit", |p| p.outputs.push(3)),
        ("circuit", |p| p.transforms[1].giants[1].rotation = 3),
        ("packing", |p| {
            p.arguments[0].secrecy = Secrecy::Encrypted(IndexMap::identity(8).unwrap())
        }),
        ("plaintexts", |p| p.plaintexts[0].bound = 3.0),
        ("plaintexts", |p| {
            p.expressions[12].operation = PlainOp::Within(11, 5.0)
        }),
        ("output", |p| p.result_shape = vec![1, 3]),
        ("output", |p| p.reading.complex = true),
        ("", |p| p.lines[0].number = 7),
        ("", |p| {
            (p.guarantee.bits, p.steps[2].place.column) = (0.0, 1)
        }),
    ];
    let program = sample(ckks_parameters());
    let sections = program.sections();
    let names: Vec<&str> = sections.iter().map(|s| s.0).collect();
    assert_eq!(
        names,
        [
            "kernel",
            "parameters",
            "encryption",
            "circuit",
            "packing",
            "plaintexts",
            "output"
        ]
    );
    for (number, (part, change)) in changes.into_iter().enumerate() {
        let mut other = program.clone();
        change(&mut other);
        let others = other.sections();
        let differing = sections.iter().zip(&others).filter(|(a, b)| a != b);
        let differing: String = differing.map(|(a, _)| a.0).collect();
        assert_eq!(differing, part, "change {number}");
    }
    let other = sample(bfv_parameters()).sections();
    assert_ne!(other[1], sections[1]);
}

/// The first product as a sum of two rotations, each times the argument.
pub(super) fn transforming(mut program: Program) -> Program {
    let scale = program.parameters.scale();
    program.transforms = vec![transform(scale, &[(0, &[(0, 0), (1, 0)])])];
    program.steps[1].operation = Operation::LinearTransform(0, 0);
    program
}

#[test]
fn the_plaintexts_of_a_transform_are_measured_as_those_of_products() {
    for program in exact() {
        let encodings = program.encodings();
        let bits = program.guarantee.bits;
        let program = promising(transforming(program), Assume::None);
        assert_eq!(program.encodings(), encodings);
        // Two terms and a key switch are worse than one product.
        let worse = match program.parameters.plain_modulus() {
            Some(_) => bits - program.guarantee.bits,
            None => program.guarantee.bits - bits,
        };
        assert!((0.1..5.0).contains(&worse), "{worse}");
        read(&program.to_bytes()).unwrap();
        assert!(program.needs_measuring().unwrap());
        let contrived = contrived(&program.parameters);
        let values = program.evaluate(&[contrived]).unwrap();
        let effects = program.measure(&values, &Threads::ONE).unwrap();
        let text = refused(program.check_plaintexts(&effects));
        assert!(text.contains("the values of w"), "{text}");
        promising(program, Assume::All)
            .check_plaintexts(&effects)
            .unwrap();
    }
}

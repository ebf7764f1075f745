// SPDX-License-Identifier: Apache-2.0
use isa::{BuildInfo, Draw, Host, Mix, Reduction, RnsUnit, Route, State, assemble, random_program};
use model::{Cause, Conversion, Digit};
use zq::Modulus;
use zq::primes::{Direction, ntt_primes};

use crate::{Device, DeviceError, Driver, Injection, Modeled};

pub(crate) fn build() -> BuildInfo {
    BuildInfo {
        word_bits: 32,
        lanes: 2,
        butterflies: 2,
        log2_n_max: 8,
        dual_port_slots: 4,
        single_port_slots: 4,
        twiddle_tables: 2,
        constants: 4,
        multiplier: 1,
        host: Host::Axi4,
        rns: Some(RnsUnit {
            rate: 2,
            conversions: 6,
            entries: 16,
        }),
        moves: 4,
        ..BuildInfo::small().unwrap()
    }
}

fn moduli(values: &[u128]) -> Vec<Modulus<u128>> {
    values.iter().map(|&q| Modulus::new(q).unwrap()).collect()
}

/// Of the base conversions that [`ready`] sets.
const ROUTES: [Route; 4] = [
    Route { from: 0, to: 1 },
    Route { from: 1, to: 0 },
    Route { from: 0, to: 1 },
    Route { from: 0, to: 0 },
];

/// Of the digits that [`ready`] sets.
const DIGITS: [Route; 2] = [Route { from: 0, to: 1 }, Route { from: 1, to: 1 }];

/// The second lane's residues modulo q in both lanes modulo p; the lanes exchanged.
fn digits(q: &[Modulus<u128>], p: &[Modulus<u128>]) -> [Digit; 2] {
    let spread = [(1, q[1], p[0]), (1, q[1], p[1])];
    let crossed = [(1, p[1], p[0]), (0, p[0], p[1])];
    [spread, crossed].map(|shares| Digit::new(&shares).unwrap())
}

/// Moduli of 30 bits on every lane and index, tables for n = 64, random residues in buffers 0 and 1, and base
/// conversions between the two indices: lifts both ways, a scaling, a digit of the second lane.
fn ready(info: BuildInfo) -> Driver {
    ready_on(Box::new(Modeled::open(info).unwrap()))
}

/// The same on any device; its buffers count from 0 for the first core of a board.
pub(crate) fn ready_on(device: Box<dyn crate::Device>) -> Driver {
    let mut driver = Driver::open(device).unwrap();
    let primes = ntt_primes::<u128>(30, 512, 4, Direction::Down, &[]).unwrap();
    driver.allocate(40).unwrap();
    let mut draw = Draw::new(3);
    for index in 0..2u8 {
        let moduli = &primes[2 * usize::from(index)..][..2];
        driver.set_moduli(index, moduli).unwrap();
        driver.load_twiddles(index, 64).unwrap();
        let lane = |q: &u128| (0..64).map(|_| u128::from(draw.bits()) % q).collect();
        let polynomial: Vec<Vec<u128>> = moduli.iter().map(lane).collect();
        driver.upload(index.into(), &polynomial).unwrap();
    }
    let (q, p) = (moduli(&primes[..2]), moduli(&primes[2..]));
    let conversions = [
        Conversion::lift(0, &q, &p),
        Conversion::lift(0, &p, &q),
        Conversion::scale(0, &q, &p, 33),
        Conversion::lift(1, &q[1..], &q),
    ];
    for (number, conversion) in (0..).zip(conversions) {
        driver.set_conversion(number, &conversion.unwrap()).unwrap();
    }
    for (number, digit) in (0..).zip(digits(&q, &p)) {
        driver.set_digit(number, &digit).unwrap();
    }
    for (number, element) in [(0, 5), (1, 127)] {
        driver.set_automorphism(number, element).unwrap();
    }
    driver
}

fn audit(driver: &mut Driver) {
    driver.audit().unwrap();
    driver.load_twiddles(0, 64).unwrap();
    driver.load_twiddles(1, 64).unwrap();
}

fn run(driver: &mut Driver, text: &str) -> Result<model::Profile, DeviceError> {
    driver.run(&assemble(text).unwrap())
}

#[test]
fn a_round_trip_through_both_transforms_gives_the_input_back() {
    let mut driver = ready(build());
    let profile = run(
        &mut driver,
        "load s2 n=64 buf=0\nntt s4, s2 n=64\nintt s3, s4 n=64\nstore s3 n=64 buf=2",
    )
    .unwrap();
    assert_eq!(
        driver.download(2, 64).unwrap(),
        driver.download(0, 64).unwrap()
    );
    assert_eq!(profile.events.len(), 4);
    assert!(profile.counters.busy_compute > 0 && profile.counters.cycles >= profile.events[3].end);
    assert_eq!(driver.transfers().received, 2);
}

#[test]
fn moduli_are_checked_before_the_device_sees_them() {
    let mut driver = ready(build());
    let cases = [
        (
            vec![1 << 40, 97],
            "modulus 1099511627776 has 41 bits, the build has words of 32",
        ),
        (
            vec![97, 11],
            "modulus index 0, lane 1: modulus 11 has 4 bits, the build needs 5",
        ),
        (vec![97, 98], "modulus 98 is even"),
        (vec![97], "1 lanes given, the build has 2"),
    ];
    for (moduli, words) in cases {
        let message = driver.set_moduli(0, &moduli).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    let message = driver.set_moduli(2, &[97, 193]).unwrap_err().to_string();
    assert!(
        message.contains("modulus index 2 does not exist, the build has 2"),
        "{message}"
    );
    driver.set_moduli(0, &[97, 193]).unwrap();
    let message = driver.load_twiddles(0, 64).unwrap_err().to_string();
    assert!(
        message.contains("modulus 97 is not NTT-friendly for n = 64"),
        "{message}"
    );
}

#[test]
fn conversions_are_checked_before_the_device_sees_them() {
    let mut driver = ready(build());
    let [q, p] = [[97, 193], [257, 353]].map(|values| moduli(&values));
    let cases = [
        (
            6,
            Conversion::lift(0, &q, &p),
            "conversion 6 does not exist, the build has 6",
        ),
        (
            4,
            Conversion::lift(1, &q, &p),
            "2 input primes from lane 1 on",
        ),
        (
            4,
            Conversion::lift(0, &q, &moduli(&[97, 193, 257])),
            "3 output primes, the build has 2 lanes",
        ),
        (
            4,
            Conversion::lift(0, &q, &moduli(&[11])),
            "conversion 4: modulus 11 has 4 bits",
        ),
        (4, Conversion::lift(0, &[], &p), "0 input primes"),
    ];
    for (number, conversion, words) in cases {
        let refused = driver.set_conversion(number, &conversion.unwrap());
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    // Three entries each for four, two for the digit, make 11 of 16; a number set again gives its entries back.
    let lift = Conversion::lift(0, &q, &p).unwrap();
    for number in [4, 0, 4, 0] {
        driver.set_conversion(number, &lift).unwrap();
    }
    let digit = Conversion::lift(0, &q[..1], &q).unwrap();
    driver.set_conversion(5, &digit).unwrap();
    let message = driver.set_conversion(5, &lift).unwrap_err().to_string();
    assert!(
        message.contains("conversion 5 takes 3 entries of constants in a row"),
        "{message}"
    );
    driver.reset().unwrap();
    let message = run(&mut driver, "load s2 n=64 buf=0\nlift s3, s2 n=64")
        .unwrap_err()
        .to_string();
    assert!(message.contains("conversion 0 was never set"), "{message}");
    let without = BuildInfo {
        rns: None,
        ..build()
    };
    let mut driver = Driver::open(Box::new(Modeled::open(without).unwrap())).unwrap();
    let message = driver.set_conversion(0, &lift).unwrap_err().to_string();
    assert_eq!(message, "base conversion is not in this build");
}

#[test]
fn moves_are_checked_before_the_device_sees_them() {
    let mut driver = ready(build());
    let q = moduli(&[97, 193]);
    let one = Digit::new(&[(0, q[0], q[1])]).unwrap();
    let beyond = Digit::new(&[(0, q[0], q[1]), (2, q[0], q[1])]).unwrap();
    let large = moduli(&[(1 << 40) - 87]);
    let wide = Digit::new(&[(0, large[0], large[0]), (0, large[0], large[0])]).unwrap();
    let cases = [
        (
            driver.set_digit(4, &one),
            "digit 4 does not exist, the build has 4",
        ),
        (
            driver.set_digit(3, &one),
            "digit 3: 1 lanes given, the build has 2",
        ),
        (
            driver.set_digit(3, &beyond),
            "digit 3: source lane 2, the build has 2 lanes",
        ),
        (driver.set_digit(3, &wide), "the build has words of 32 bits"),
        (
            driver.set_automorphism(4, 5),
            "automorphism 4 does not exist, the build has 4",
        ),
        (
            driver.set_automorphism(0, 6),
            "automorphism 0: x -> x^6 is none, the exponent must be odd",
        ),
        (
            run(
                &mut driver,
                "load s2 n=64 buf=0\ndecomp s3, s2 n=64 const=3",
            )
            .map(drop),
            "digit 3 was never set",
        ),
    ];
    for (refused, words) in cases {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    driver.reset().unwrap();
    let message = run(&mut driver, "load s2 n=64 buf=0\nauto s3, s2 n=64")
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("automorphism 0 was never set"),
        "{message}"
    );
    let without = BuildInfo {
        moves: 0,
        ..build()
    };
    let mut driver = Driver::open(Box::new(Modeled::open(without).unwrap())).unwrap();
    let message = driver.set_automorphism(0, 5).unwrap_err().to_string();
    assert_eq!(
        message,
        "moves between words and lanes are not in this build"
    );
}

#[test]
fn an_automorphism_and_its_inverse_give_the_input_back_in_a_word_a_cycle() {
    let mut driver = ready(build());
    driver.set_automorphism(3, 77).unwrap(); // 5 * 77 = 1 modulo 128
    let text =
        "load s2 n=64 buf=0\nauto s3, s2 n=64\nauto s4, s3 n=64 const=3\nstore s4 n=64 buf=2";
    let profile = run(&mut driver, text).unwrap();
    assert_eq!(
        driver.download(2, 64).unwrap(),
        driver.download(0, 64).unwrap()
    );
    let event = profile.events[1];
    assert_eq!(event.end - event.start, 64 / 2 + 6);
}

#[test]
fn a_lift_and_back_gives_the_input_back() {
    let mut driver = ready(build());
    let text =
        "load s2 n=64 buf=0\nlift s3, s2 n=64\nlift s4, s3 n=64 const=1\nstore s4 n=64 buf=2";
    let profile = run(&mut driver, text).unwrap();
    assert_eq!(
        driver.download(2, 64).unwrap(),
        driver.download(0, 64).unwrap()
    );
    assert_eq!(
        profile.counters.busy_rns,
        profile.events[1..3]
            .iter()
            .map(|e| e.end - e.start)
            .sum::<u64>()
    );
}

#[test]
fn new_moduli_make_the_old_tables_unusable() {
    let mut driver = ready(build());
    driver.set_moduli(0, &[257, 257]).unwrap();
    let message = run(&mut driver, "load s2 n=64 buf=0\nntt s2, s2 n=64")
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("the twiddle table of modulus 0 was never loaded"),
        "{message}"
    );
}

#[test]
fn programs_the_build_cannot_run_never_reach_the_device() {
    let mut driver = ready(build());
    let message = run(&mut driver, "load s2 n=64 buf=0\npmodadd s2, s2, s5 n=64")
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("instruction 1")
            && message.contains("slot 5 is read but was never written"),
        "{message}"
    );
    assert!(
        run(&mut driver, "store s2 n=64 buf=3").is_err(),
        "the refused program's LOAD must not count"
    );
}

#[test]
fn a_bus_error_names_the_instruction() {
    let mut driver = ready(build());
    let error = run(&mut driver, "load s2 n=64 buf=0\nload s3 n=64 buf=1000").unwrap_err();
    assert!(
        matches!(
            error,
            DeviceError::Stopped {
                index: 1,
                cause: Cause::Bus,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "instruction 1 (load s3 n=64 buf=1000): bus error"
    );
}

#[test]
fn a_device_that_hangs_times_out_with_the_instruction() {
    let mut driver = ready(build());
    driver.inject(Injection::Stall(true)).unwrap();
    let message = run(&mut driver, "memcpy s2, zero n=64\nload s3 n=64 buf=0")
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("instruction 1 (load s3 n=64 buf=0) did not finish within"),
        "{message}"
    );
    driver.reset().unwrap();
    assert!(
        run(&mut driver, "load s3 n=64 buf=0").is_ok(),
        "a reset device works again"
    );
}

#[test]
fn checksums_catch_a_faulty_result_and_nothing_else() {
    let text = "load s2 n=64 buf=0\nntt s4, s2 n=64\npmodadd s3, s4, s4 n=64\nstore s3 n=64 buf=2";
    let mut driver = ready(build());
    audit(&mut driver);
    assert_eq!(run(&mut driver, text).unwrap().events.len(), 4);
    driver
        .inject(Injection::FaultyResults {
            after_cycles: 0,
            for_cycles: u64::MAX,
        })
        .unwrap();
    let message = run(&mut driver, text).unwrap_err().to_string();
    let words = "instruction 1 (ntt s4, s2 n=64): checksum of slot 4, lane 0 does not match";
    assert!(message.starts_with(words), "{message}");
}

#[test]
fn without_checksums_the_same_fault_goes_unnoticed() {
    let mut driver = ready(build());
    driver
        .inject(Injection::FaultyResults {
            after_cycles: 0,
            for_cycles: u64::MAX,
        })
        .unwrap();
    run(
        &mut driver,
        "load s2 n=64 buf=0\npmodadd s3, s2, zero n=64\nstore s3 n=64 buf=2",
    )
    .unwrap();
    assert_ne!(
        driver.download(2, 64).unwrap(),
        driver.download(0, 64).unwrap()
    );
}

#[test]
fn random_programs_run_and_keep_their_checksums() {
    let montgomery = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 9,
        ..build()
    };
    for info in [build(), montgomery] {
        random_programs_keep_their_checksums(&info);
    }
}

fn random_programs_keep_their_checksums(info: &BuildInfo) {
    let mix = Mix {
        length: 40,
        log2_n: 6,
        moduli: 2,
        routes: ROUTES.to_vec(),
        digits: DIGITS.to_vec(),
        automorphisms: 2,
        inputs: 2,
        outputs: 8,
    };
    for seed in 0..10 {
        let mut driver = ready(info.clone());
        audit(&mut driver);
        let program = random_program(info, driver.state(), &mix, seed);
        // STOREs inside the program go to buffers that must exist.
        driver.allocate(100).unwrap();
        let profile = driver
            .run(&program)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(profile.events.len(), program.len());
    }
    assert_eq!(State::new(info).slots.len(), 8);
}

#[test]
fn buffers_that_no_command_or_address_reaches_are_refused() {
    let named = build();
    let long = BuildInfo {
        log2_n_max: 13,
        address_bits: 32,
        ..build()
    };
    for (info, most) in [
        (&named, 1 << 20),
        (&long, ((1 << 32) / long.buffer_bytes()) as u32),
    ] {
        assert_eq!(info.host_buffers(), u64::from(most));
        let mut device = Modeled::open(info.clone()).unwrap();
        assert_eq!(device.allocate(2).unwrap(), 0);
        for count in [most - 1, u32::MAX] {
            let refusal = device.allocate(count).unwrap_err().to_string();
            let told = format!("no room for {count} host buffers of");
            assert!(refusal.starts_with(&told), "{refusal}");
            assert!(refusal.ends_with(&format!("beside 2: this build reaches {most}")));
        }
        assert_eq!(device.allocate(1).unwrap(), 2);
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let mut driver = ready(build());
    let cases: [(&[Vec<u128>], &str); 3] = [
        (&[vec![0; 8]], "1 lanes given, the build has 2"),
        (&[vec![0; 8], vec![0; 16]], "all lanes alike"),
        (&[vec![0; 512], vec![0; 512]], "takes up to 256"),
    ];
    for (polynomial, words) in cases {
        let message = driver.upload(0, polynomial).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    let message = driver
        .upload(99, &[vec![0; 8], vec![0; 8]])
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("host buffer 99, lane 0 does not exist"),
        "{message}"
    );
    let message = driver
        .set_constant(0, &[1 << 32, 0])
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("constant 4294967296 does not fit 32 bits"),
        "{message}"
    );
}

#[test]
fn a_library_that_is_none_is_refused() {
    let error = crate::Hardware::open(
        std::path::Path::new("/nonexistent/lib.so"),
        isa::PortMemory::IDEAL,
        &[],
        "",
    )
    .err()
    .unwrap();
    assert!(
        error.to_string().starts_with("/nonexistent/lib.so: "),
        "{error}"
    );
}

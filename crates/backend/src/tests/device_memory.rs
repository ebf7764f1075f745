// SPDX-License-Identifier: Apache-2.0
//! Keys and plaintexts stay in the buffers of a device: written once for all requests of a run, freed with it, and
//! written anew where the device may have lost them. Bytes of ciphertexts and cycles do not depend on it.

use super::conformance::changed;
use super::conversions::converts;
use super::coprocessor::{ALL, build, engine};
use super::faults::Faulty;
use super::moves::{ending, moves, set};
use super::random::Maker;
use super::reference::Client;
use super::requests::{Asked, PLENTY, ones, resources};
use super::{bfv_parameters, bfv_wide_parameters, ckks_parameters, clear};
use crate::{Backend, Coprocessor, Error, Observer, Run, Unobserved};
use device::{Driver, Injection, Modeled};
use isa::BuildInfo;
use offload::{Session, Usage};
use program::expression::Numbers;
use program::step::Operation;
use program::{Encryption, Parameters, Program};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A program with a key and a plain argument that counts, its client, and other plain arguments.
struct Case {
    program: Arc<Program>,
    client: Client,
    plain: [Vec<Numbers>; 2],
    expected: [Vec<Vec<u8>>; 2],
}

impl Case {
    /// The first after a seed.
    fn new(parameters: &Parameters, first: u64) -> Self {
        let made = (first..).map(|seed| {
            let maker = Maker::new(parameters.clone(), Encryption::Secret, seed);
            let (program, plain) = maker.finish();
            let client = Client::new(&program, &clear::inputs(&program, seed));
            let plain = [plain.clone(), changed(&plain)];
            let expected = plain.each_ref().map(|one| client.reference(&program, one));
            Self {
                program: Arc::new(program),
                client,
                plain,
                expected,
            }
        });
        let counts = |case: &Self| {
            let needs = case.program.required_keys();
            let keyed = needs.relinearization.is_some() || needs.galois.is_some();
            keyed && case.expected[0] != case.expected[1]
        };
        let Some(case) = made.into_iter().find(counts) else {
            unreachable!("seeds do not end")
        };
        case
    }

    fn open(&self, backend: &Coprocessor, memory: usize) -> Box<dyn Run> {
        let resources = resources(1, memory);
        let run = backend.open(&self.program, &self.client.keys, &resources);
        run.unwrap()
    }

    fn request(&self, run: &dyn Run, which: usize, observer: &dyn Observer) -> Result<(), Error> {
        let inputs = self.client.lent();
        let asked = Asked::new(
            &self.program,
            &self.client.keys,
            &inputs,
            &self.plain[which],
        );
        let outcome = run.evaluate(&asked.request(), observer)?;
        assert!(outcome.outputs == self.expected[which], "{}", self.program);
        Ok(())
    }

    /// The usage of a request whose bytes are those of the walk.
    fn usage(&self, backend: &Coprocessor, run: &dyn Run, which: usize) -> Usage {
        backend.take_usage();
        self.request(run, which, &Unobserved).unwrap();
        backend.take_usage()
    }

    /// Bytes that it writes.
    fn written(&self, backend: &Coprocessor, run: &dyn Run, which: usize) -> u64 {
        self.usage(backend, run, which).written_bytes
    }
}

/// A device with all cores of a build.
fn cores(info: BuildInfo) -> Coprocessor {
    let session = |core| Session::new(Driver::open(Box::new(core)).unwrap()).unwrap();
    let all = Modeled::open_cores(info).unwrap();
    let mut sessions: Vec<Session> = all.into_iter().map(session).collect();
    let first = sessions.remove(0);
    let operations = ALL.iter().map(|&name| name.to_owned());
    Coprocessor::new("model:test", first, operations).with_cores(sessions)
}

/// Parameter sets whose keys devices of these builds take.
fn keyed() -> [(Parameters, BuildInfo); 4] {
    [
        (bfv_parameters(), converts(62, 4, 10)),
        (bfv_parameters(), build(62, 2, 9)),
        (set(1024, 45, 3, 45), moves(46, 8, 10)),
        (bfv_wide_parameters(), build(128, 1, 8)),
    ]
}

fn operands(usage: &Usage, name: &str) -> u64 {
    usage.operands.get(name).map_or(0, |found| found.bytes)
}

#[test]
fn each_byte_of_a_key_crosses_once_for_all_requests() {
    for (set, info) in keyed() {
        let case = Case::new(&set, 0);
        let backend = engine(info, &ALL);
        let run = case.open(&backend, PLENTY);
        let [first, later @ ..] = [0; 5].map(|which| case.usage(&backend, &*run, which));
        assert!(operands(&first, "keys") > 0 && first.tables > 0);
        for one in &later {
            // Parts of ciphertexts, and what the host made of them; no key, no plaintext, no table.
            let most = operands(one, "ciphertexts") + operands(one, "intermediates");
            assert!(one.written_bytes < first.written_bytes && one.written_bytes <= most);
            assert_eq!(one.written_bytes, later[0].written_bytes);
            // The device does the same as for the first.
            assert_eq!(
                (one.cycles, one.send, one.receive, one.instructions),
                (first.cycles, first.send, first.receive, first.instructions)
            );
        }
    }
}

/// Programs with keys alone: what the second request does not write is, to the byte, each table and each polynomial of
/// the keys, once.
#[test]
fn what_a_second_request_does_not_write_are_the_keys_and_tables() {
    let program = ending(&[(Operation::Rotate(0, 1), 2, 0)]);
    let client = Client::new(&program, &clear::inputs(&program, 1));
    let (inputs, plain) = (client.lent(), ones(&program));
    let asked = Asked::new(&program, &client.keys, &inputs, &plain);
    let backend = engine(moves(46, 8, 10), &ALL);
    let run = backend.open(
        &Arc::new(program.clone()),
        &client.keys,
        &resources(1, PLENTY),
    );
    let run = run.unwrap();
    let expected = client.reference(&program, &plain);
    let [first, later, third] = [(); 3].map(|()| {
        let outcome = run.evaluate(&asked.request(), &Unobserved).unwrap();
        assert!(outcome.outputs == expected);
        backend.take_usage()
    });
    let tile = backend.session().info().buffer_bytes() as u64;
    let keys = first.operands["keys"].loads;
    assert!(keys > 0 && first.tables > 0);
    assert_eq!(
        first.written_bytes - later.written_bytes,
        (keys + first.tables) * tile
    );
    assert_eq!(
        later.written_bytes,
        first.operands["ciphertexts"].loads * tile
    );
    assert_eq!(later.written_bytes, third.written_bytes);
}

#[test]
fn requests_of_another_number_at_a_time_write_no_keys() {
    for (set, info) in keyed() {
        let case = Case::new(&set, 0);
        let inputs = case.client.lent();
        let asked = Asked::new(&case.program, &case.client.keys, &inputs, &case.plain[0]);
        let backend = engine(info, &ALL);
        let run = case.open(&backend, PLENTY);
        let [first, later @ ..] = [1, 3, 1, 2].map(|count| {
            let requests: Vec<_> = (0..count).map(|_| asked.request()).collect();
            let outcomes = run.evaluate_batch(&requests, &Unobserved).unwrap();
            assert!(outcomes.iter().all(|one| one.outputs == case.expected[0]));
            backend.take_usage()
        });
        assert!(operands(&first, "keys") > 0);
        for one in &later {
            let others = ["ciphertexts", "intermediates", "plaintexts"];
            let most = others.map(|name| operands(one, name)).iter().sum();
            assert!(operands(one, "keys") > 0 && one.written_bytes <= most);
        }
    }
}

#[test]
fn other_plain_arguments_write_plaintexts_and_no_keys() {
    let case = Case::new(&bfv_parameters(), 0);
    let backend = engine(build(62, 2, 10), &ALL);
    let run = case.open(&backend, PLENTY);
    let [first, second] = [0, 0].map(|which| case.written(&backend, &*run, which));
    let held = backend.memory_in_use();
    let other = case.written(&backend, &*run, 1);
    assert!(second < other && other < first, "{first} {second} {other}");
    assert_eq!(case.written(&backend, &*run, 1), second);
    // The plaintexts of the first are gone.
    assert_eq!(backend.memory_in_use(), held);
}

#[test]
fn runs_on_one_device_keep_what_is_theirs_and_free_it_when_they_end() {
    let cases = [0, 20].map(|seed| Case::new(&bfv_parameters(), seed));
    let backend = engine(build(62, 2, 10), &ALL);
    // Buffers of programs without any that stay.
    for case in &cases {
        case.written(&backend, &*case.open(&backend, 0), 0);
    }
    let before = backend.memory_in_use();
    let runs = cases.each_ref().map(|case| case.open(&backend, PLENTY));
    let both = |which: usize| [0, 1].map(|n| cases[n].written(&backend, &*runs[n], which));
    let first = both(0);
    let later = both(0);
    assert!(later[0] < first[0] && later[1] < first[1]);
    // In turn, with other plain arguments between.
    both(1);
    both(1);
    assert_eq!(both(1), later);
    // The same program with the same keys, opened again, has its own.
    let twin = cases[0].open(&backend, PLENTY);
    let all = backend.memory_in_use();
    assert_eq!(cases[0].written(&backend, &*twin, 1), first[0]);
    assert_eq!(cases[0].written(&backend, &*runs[0], 1), later[0]);
    assert!(backend.memory_in_use() > all);
    drop(twin);
    assert_eq!(backend.memory_in_use(), all);
    let [one, two] = runs;
    drop(one);
    assert!(before < backend.memory_in_use() && backend.memory_in_use() < all);
    assert_eq!(cases[1].written(&backend, &*two, 1), later[1]);
    drop(two);
    assert_eq!(backend.memory_in_use(), before);
    // What was freed is used again.
    let run = cases[0].open(&backend, PLENTY);
    cases[0].written(&backend, &*run, 0);
    assert!(backend.memory_in_use() <= all);
}

/// Another client's keys, then the first again: each run has the bytes of its own.
#[test]
fn keys_that_change_between_runs_do_not_mix() {
    let case = Case::new(&set(1024, 45, 3, 45), 0);
    let rows = clear::inputs(&case.program, 1);
    let other = Client::seeded(&case.program, &rows, "another");
    let expected = other.reference(&case.program, &case.plain[0]);
    let backend = engine(moves(46, 8, 10), &ALL);
    for _ in 0..2 {
        let run = case.open(&backend, PLENTY);
        case.request(&*run, 0, &Unobserved).unwrap();
        drop(run);
        let resources = resources(1, PLENTY);
        let run = backend.open(&case.program, &other.keys, &resources);
        let inputs = other.lent();
        let asked = Asked::new(&case.program, &other.keys, &inputs, &case.plain[0]);
        let outcome = run.unwrap().evaluate(&asked.request(), &Unobserved);
        assert!(outcome.unwrap().outputs == expected);
        assert!(operands(&backend.take_usage(), "keys") > 0);
    }
}

/// Wants a run to stop.
struct Stopping;

impl Observer for Stopping {
    fn progress(&self, _: usize, _: usize) {}

    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_device_that_was_reset_gets_everything_anew() {
    let case = Case::new(&bfv_parameters(), 0);
    let backend = engine(build(62, 2, 10), &ALL);
    let run = case.open(&backend, PLENTY);
    let first = case.written(&backend, &*run, 0);
    let later = case.written(&backend, &*run, 0);
    let tables = {
        let usage = case.usage(&backend, &*case.open(&backend, 0), 0);
        first - usage.written_bytes
    };
    let held = backend.memory_in_use();
    let anew = |what: &str| {
        assert_eq!(case.written(&backend, &*run, 0), first - tables, "{what}");
        assert_eq!(case.written(&backend, &*run, 0), later, "{what}");
        assert_eq!(backend.memory_in_use(), held, "{what}");
    };
    backend.session().driver().reset().unwrap();
    anew("reset");
    let stall = |on| {
        backend
            .session()
            .driver()
            .inject(Injection::Stall(on))
            .unwrap()
    };
    stall(true);
    let hung = case.request(&*run, 0, &Unobserved).unwrap_err();
    assert!(hung.to_string().contains("did not finish"), "{hung}");
    stall(false);
    anew("hung");
    // Stopped before it began: nothing is lost.
    let stopped = case.request(&*run, 0, &Stopping).unwrap_err();
    assert_eq!(stopped, Error::Cancelled);
    assert_eq!(case.written(&backend, &*run, 0), later);
}

#[test]
fn a_run_told_a_small_memory_keeps_that_much() {
    let case = Case::new(&ckks_parameters(), 0);
    let backend = engine(build(62, 2, 10), &ALL);
    let bytes = backend.session().info().buffer_bytes();
    let with = |memory: usize| {
        let run = case.open(&backend, memory);
        let before = backend.memory_in_use();
        case.written(&backend, &*run, 0);
        let held = backend.memory_in_use() - before;
        let usage = case.usage(&backend, &*run, 0);
        (usage.written_bytes, held, usage.cycles)
    };
    // Buffers of the program and its tables.
    with(0);
    let (all, none, cycles) = with(0);
    assert_eq!(none, 0);
    for kept in [1, 3, 5] {
        // A little more than that many buffers.
        let found = with(kept * bytes + bytes / 2);
        let n = case.program.parameters.n() * 2 * 8;
        let less = (kept * n) as u64;
        assert_eq!(found, (all - less, (kept * bytes) as u64, cycles), "{kept}");
    }
}

/// A device of a build with that many host buffers.
fn small(info: BuildInfo, room: u32, refuses: &Arc<AtomicBool>) -> Coprocessor {
    let device = Faulty::small(info, room, refuses);
    let session = Session::new(Driver::open(Box::new(device)).unwrap()).unwrap();
    Coprocessor::new("model:small", session, ALL.map(str::to_owned))
}

/// Room for all that two runs keep, for some of it, for none, and for less than the programs need: the same bytes in
/// the same cycles; runs in turn get their room from each other.
#[test]
fn a_device_with_little_memory_keeps_what_it_can() {
    let cases = [0, 20].map(|seed| Case::new(&bfv_parameters(), seed));
    let info = build(62, 2, 10);
    let plenty = small(info.clone(), u32::MAX, &Arc::default());
    let bytes = plenty.session().info().buffer_bytes() as u64;
    // Operands of measured instructions have buffers of their own.
    let buffers = || (plenty.memory_in_use() / bytes) as u32 + 16;
    let cycles = cases
        .each_ref()
        .map(|case| case.usage(&plenty, &*case.open(&plenty, 0), 0).cycles);
    let least = buffers();
    let runs = cases.each_ref().map(|case| case.open(&plenty, PLENTY));
    for (case, run) in cases.iter().zip(&runs) {
        case.request(&**run, 0, &Unobserved).unwrap();
    }
    let most = buffers();
    drop(runs);
    let mut written = Vec::new();
    for room in [most, (least + most) / 2, least + 1, least] {
        let backend = small(info.clone(), room, &Arc::default());
        let runs = cases.each_ref().map(|case| case.open(&backend, PLENTY));
        let mut sum = 0;
        for which in [0, 0, 1] {
            for ((case, run), cycles) in cases.iter().zip(&runs).zip(&cycles) {
                let usage = case.usage(&backend, &**run, which);
                assert_eq!(usage.cycles, *cycles, "{room} buffers");
                sum += usage.written_bytes;
            }
        }
        written.push(sum);
    }
    assert!(
        written.is_sorted() && written[0] < written[3],
        "{written:?}"
    );
    let backend = small(info, least - 20, &Arc::default());
    let refused = cases.each_ref().map(|case| {
        let ended = case.request(&*case.open(&backend, PLENTY), 0, &Unobserved);
        ended.err().map(|error| error.to_string())
    });
    let no_room = |error: &String| error.contains("no room for 1 host buffers");
    assert!(refused.iter().flatten().any(no_room), "{refused:?}");
}

/// What a failing link did not take is not taken for written.
#[test]
fn a_link_that_fails_loses_nothing() {
    let case = Case::new(&bfv_parameters(), 0);
    let refuses = Arc::new(AtomicBool::new(false));
    let backend = small(build(62, 2, 10), u32::MAX, &refuses);
    let run = case.open(&backend, PLENTY);
    for _ in 0..2 {
        refuses.store(true, Ordering::Relaxed);
        let error = case.request(&*run, 0, &Unobserved).unwrap_err();
        assert!(error.to_string().contains("the link is down"), "{error}");
        refuses.store(false, Ordering::Relaxed);
        let [first, later] = [0, 0].map(|which| case.written(&backend, &*run, which));
        assert!(later < first);
    }
}

#[test]
fn cores_find_what_stayed_for_all_of_them() {
    let info = BuildInfo {
        cores: 3,
        host: isa::Host::Axi4,
        ..converts(62, 4, 10)
    };
    let case = Case::new(&bfv_parameters(), 0);
    let inputs = case.client.lent();
    let asked = Asked::new(&case.program, &case.client.keys, &inputs, &case.plain[0]);
    let requests = || (0..5).map(|_| asked.request()).collect::<Vec<_>>();
    let backend = cores(info);
    let run = case.open(&backend, PLENTY);
    let mut found = Vec::new();
    for _ in 0..3 {
        backend.take_usage();
        let outcomes = run.evaluate_batch(&requests(), &Unobserved).unwrap();
        assert!(outcomes.iter().all(|one| one.outputs == case.expected[0]));
        let shift = backend.take_shift();
        found.push((backend.take_usage().written_bytes, shift));
    }
    assert!(found[1].0 < found[0].0 && found[2].0 == found[1].0);
    assert_eq!(found[1].1, found[0].1);
    assert_eq!(found[2].1, found[0].1);
    // A failure of one core: everything anew.
    backend
        .session()
        .driver()
        .inject(Injection::Stall(true))
        .unwrap();
    assert!(run.evaluate_batch(&requests(), &Unobserved).is_err());
    backend.take_usage();
    let outcomes = run.evaluate_batch(&requests(), &Unobserved).unwrap();
    assert!(outcomes.iter().all(|one| one.outputs == case.expected[0]));
    assert!(backend.take_usage().written_bytes > found[1].0);
}

/// Three threads with runs of their own, which come and go, on one device.
#[test]
fn runs_of_several_threads_come_and_go() {
    let cases = [0, 20, 40].map(|seed| Case::new(&bfv_parameters(), seed));
    let backend = engine(build(62, 2, 10), &ALL);
    std::thread::scope(|scope| {
        for case in &cases {
            scope.spawn(|| {
                for _ in 0..3 {
                    let run = case.open(&backend, PLENTY);
                    for which in [0, 0, 1] {
                        case.request(&*run, which, &Unobserved).unwrap();
                    }
                }
            });
        }
    });
    // Nothing is left of them but the buffers of the programs themselves.
    let held = backend.memory_in_use();
    for case in &cases {
        case.request(&*case.open(&backend, 0), 0, &Unobserved)
            .unwrap();
    }
    assert_eq!(backend.memory_in_use(), held);
}

// SPDX-License-Identifier: Apache-2.0
//! Programs on several cores of a device at the same time.

use std::collections::HashMap;

use isa::{Instruction, Op, check, encode};
use model::{Profile, schedule_together};

use crate::{DeviceError, Driver, Stop};

/// As [`Driver::run_until`] on several cores of one device, which begin together;
/// cycles count from the first start of all.
///
/// # Errors
/// As [`Driver::run_until`]; [`DeviceError::Data`] where a core writes a host buffer that another one reads or writes.
/// If one core fails, all these are reset.
pub fn run_together(
    drivers: &mut [&mut Driver],
    programs: &[Vec<Instruction>],
    stop: Stop<'_>,
) -> Result<Vec<Profile>, DeviceError> {
    if let ([driver], [program]) = (&mut *drivers, programs) {
        return Ok(vec![driver.run_until(program, stop)?]);
    }
    check_buffers(programs)?;
    let mut states = Vec::with_capacity(programs.len());
    for (driver, program) in drivers.iter().zip(programs) {
        states.push(check(&driver.info, &driver.state, program)?);
    }
    let outcome = execute(drivers, programs, stop);
    for (driver, state) in drivers.iter_mut().zip(states) {
        match outcome {
            Ok(_) => driver.state = state,
            // The first error is the one to report, even if a core cannot be reset either.
            Err(_) => drop(driver.reset()),
        }
    }
    outcome
}

fn execute(
    drivers: &mut [&mut Driver],
    programs: &[Vec<Instruction>],
    stop: Stop<'_>,
) -> Result<Vec<Profile>, DeviceError> {
    let expected = predict(drivers, programs);
    let longest = expected.iter().map(|profile| profile.counters.cycles).max();
    for (driver, program) in drivers.iter_mut().zip(programs) {
        driver.device.submit(&encode(program))?;
    }
    let limits = drivers.iter().map(|d| d.limit(longest.unwrap_or(0)));
    let limit = limits.max().unwrap_or(0);
    drivers
        .iter_mut()
        .map(|driver| driver.device.wait(limit, stop))
        .collect()
}

/// The timelines that the model predicts for programs on several cores of one device.
pub fn predict(drivers: &[&mut Driver], programs: &[Vec<Instruction>]) -> Vec<Profile> {
    let Some(first) = drivers.first() else {
        return Vec::new();
    };
    let each = drivers.iter().zip(programs);
    let each: Vec<_> = each.map(|(driver, p)| (&driver.state, &p[..])).collect();
    schedule_together(&first.info, &each)
}

/// A buffer that a core writes is its own: nothing says who would come first.
fn check_buffers(programs: &[Vec<Instruction>]) -> Result<(), DeviceError> {
    let mut writers: HashMap<u32, usize> = HashMap::new();
    let transfers = |op: Op| {
        let programs = programs.iter().enumerate();
        programs.flat_map(move |(core, program)| {
            let of_kind = program.iter().filter(move |i| i.op == op);
            of_kind.map(move |i| (core, i.buf_idx))
        })
    };
    let refuse = |buffer: u32, [writer, other]: [usize; 2], does: &str| {
        Err(DeviceError::data(format!(
            "host buffer {buffer}: program {writer} writes it and program {other} {does} it at the same time; give each a \
             buffer of its own, or run them one after another"
        )))
    };
    for (core, buffer) in transfers(Op::Store) {
        let writer = *writers.entry(buffer).or_insert(core);
        if writer != core {
            return refuse(buffer, [writer, core], "writes");
        }
    }
    for (core, buffer) in transfers(Op::Load) {
        if let Some(&writer) = writers.get(&buffer).filter(|&&writer| writer != core) {
            return refuse(buffer, [writer, core], "reads");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use isa::{BuildInfo, assemble};

    use super::*;
    use crate::Modeled;
    use crate::tests::{build, ready_on};

    fn cores(count: u32) -> Vec<Driver> {
        let info = BuildInfo {
            cores: count,
            ..build()
        };
        let cores = Modeled::open_cores(info).unwrap();
        cores
            .into_iter()
            .map(|core| ready_on(Box::new(core)))
            .collect()
    }

    fn run(drivers: &mut [Driver], texts: &[String]) -> Result<Vec<Profile>, DeviceError> {
        let programs: Vec<_> = texts.iter().map(|text| assemble(text).unwrap()).collect();
        let mut drivers: Vec<&mut Driver> = drivers.iter_mut().collect();
        run_together(&mut drivers, &programs, &|| false)
    }

    #[test]
    fn cores_have_slots_of_their_own_and_buffers_in_common() {
        let mut drivers = cores(2);
        let texts = [2, 3].map(|to| {
            let input = to - 2;
            format!("load s2 n=64 buf={input}\nntt s3, s2 n=64\nstore s3 n=64 buf={to}")
        });
        run(&mut drivers, &texts).unwrap();
        let [values, others] = [2, 3].map(|buffer| drivers[0].download(buffer, 64).unwrap());
        assert_ne!(values, others);
        let back = [2, 3].map(|from| {
            format!(
                "load s2 n=64 buf={from}\nintt s3, s2 n=64\nstore s3 n=64 buf={}",
                from + 2
            )
        });
        run(&mut drivers, &back).unwrap();
        for (input, output) in [(0, 4), (1, 5)] {
            let given = drivers[1].download(input, 64).unwrap();
            assert_eq!(drivers[1].download(output, 64).unwrap(), given);
        }
    }

    #[test]
    fn a_port_is_shared_and_common_loads_take_the_time_of_one() {
        let mut drivers = cores(2);
        let load = |buffer: u32| format!("load s2 n=64 buf={buffer}");
        let alone = run(&mut drivers[..1], &[load(0)]).unwrap()[0]
            .counters
            .cycles;
        let ends = |profiles: Vec<Profile>| [0, 1].map(|core| profiles[core].counters.cycles);
        let common = ends(run(&mut drivers, &[load(0), load(0)]).unwrap());
        assert_eq!(common, [alone, alone]);
        let apart = ends(run(&mut drivers, &[load(0), load(1)]).unwrap());
        assert_eq!(apart[0], alone);
        assert!((2 * alone..2 * alone + 4).contains(&apart[1]), "{apart:?}");
    }

    #[test]
    fn two_cores_do_not_write_what_another_uses() {
        let mut drivers = cores(2);
        let store = "load s2 n=64 buf=0\nstore s2 n=64 buf=7".to_owned();
        let error = run(&mut drivers, &[store.clone(), store.clone()]).unwrap_err();
        let words = "host buffer 7: program 0 writes it and program 1 writes it at the same time";
        assert!(error.to_string().starts_with(words), "{error}");
        let load = "load s2 n=64 buf=7".to_owned();
        let error = run(&mut drivers, &[load.clone(), store.clone()]).unwrap_err();
        let words = "host buffer 7: program 1 writes it and program 0 reads it at the same time";
        assert!(error.to_string().starts_with(words), "{error}");
        // One after another they may.
        run(&mut drivers[..1], &[store]).unwrap();
        run(&mut drivers[1..], &[load]).unwrap();
    }

    #[test]
    fn an_error_of_one_core_ends_the_round_for_all() {
        let mut drivers = cores(2);
        drivers[0].inject(crate::Injection::Stall(true)).unwrap();
        let texts = [0, 1].map(|buffer| format!("load s2 n=64 buf={buffer}"));
        assert!(run(&mut drivers, &texts).is_err());
        // Both were reset: their slots and moduli are unknown.
        for driver in &mut drivers {
            assert!(driver.moduli(0).is_none());
        }
    }
}

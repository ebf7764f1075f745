// SPDX-License-Identifier: Apache-2.0
//! Files that are no device's: what is found and refused before a core is asked for anything. Plain memory stands for
//! registers; a core behind such files answers in `python/ringsmith/hw/linux`.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::bus::Bus;
use super::xdma::Xdma;
use super::*;
use crate::info_block::tests::registers;
use crate::registers as r;
use crate::transport::Transport;

/// A folder with `dev` and `sys`, gone at the end.
struct Root(PathBuf);

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Root {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root =
            std::env::temp_dir().join(format!("ringsmith-axi-{}-{number}", std::process::id()));
        fs::create_dir_all(root.join("dev")).unwrap();
        Self(root)
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A UIO device whose registers are plain memory.
    fn device(&self, number: u32, name: &str, held: &[u8]) {
        let class = format!("sys/class/uio/uio{number}");
        self.put(&format!("{class}/name"), format!("{name}\n"));
        self.put(&format!("{class}/maps/map0/size"), "0x0000000000001000\n");
        self.put(&format!("{class}/maps/map0/offset"), "0x0\n");
        self.put(&format!("dev/uio{number}"), held);
    }

    /// A buffer that needs no synchronisation.
    fn buffer(&self, name: &str, address: u64, bytes: u64) {
        let class = format!("sys/class/u-dma-buf/{name}");
        self.put(&format!("{class}/phys_addr"), format!("{address:#018x}\n"));
        self.put(&format!("{class}/size"), format!("{bytes}\n"));
        self.put(&format!("{class}/dma_coherent"), "1\n");
        self.put(&format!("dev/{name}"), vec![0xa5; bytes as usize]);
    }

    fn open(&self, device: &str, buffers: Option<&str>) -> Result<AxiHost, String> {
        let address = UioAddress {
            device: device.to_owned(),
            buffers: buffers.map(str::to_owned),
            done: Done::Interrupt,
            root: self.0.clone(),
        };
        let mut host = AxiHost::uio("board:uio:x", &address).map_err(|error| error.to_string())?;
        host.reset().map_err(|error| error.to_string())?;
        Ok(host)
    }
}

/// The registers of an idle core, one replaced.
fn block(address: u32, value: u32) -> Vec<u8> {
    let mut read = registers(address, value);
    let of = |at: u32| match at {
        _ if at == address => value,
        r::STATUS => 1,
        r::CLOCK_KHZ => 100_000,
        _ => read(at).unwrap(),
    };
    (0..1024)
        .map(|word| 4 * word)
        .map(of)
        .flat_map(u32::to_le_bytes)
        .collect()
}

fn core() -> Vec<u8> {
    block(0xffc, 0)
}

fn refused(opened: Result<AxiHost, String>, words: &str) {
    let message = opened.err().expect("refused");
    assert!(
        message.contains(words) && !message.contains('\n'),
        "{message}"
    );
}

#[test]
fn a_device_is_found_by_its_name_or_its_number() {
    let root = Root::new();
    refused(
        root.open("ringsmith", None),
        "board:uio:x: no UIO device: load the package's device-tree overlay",
    );
    root.device(0, "axi-gpio", &[0; 4096]);
    refused(
        root.open("ringsmith", None),
        "no UIO device of this name; there are uio0 (axi-gpio)",
    );
    root.device(1, "ringsmith", &core());
    refused(
        root.open("ringsmith", None),
        "no u-dma-buf ringsmith: there is none",
    );
    root.buffer("other", 0x1000_0000, 8192);
    refused(
        root.open("ringsmith", None),
        "no u-dma-buf ringsmith: ?buffers= takes one of other",
    );
    root.open("ringsmith", Some("other")).unwrap();
    root.buffer("ringsmith", 0x2000_0000, 8192);
    root.open("ringsmith", None).unwrap();
    root.device(2, "ringsmith", &core());
    refused(
        root.open("ringsmith", None),
        "several UIO devices have this name: name one of uio:uio1, uio:uio2",
    );
    root.open("uio2", None).unwrap();
}

#[test]
fn another_program_is_kept_away() {
    let root = Root::new();
    root.device(0, "ringsmith", &core());
    root.device(1, "second", &core());
    root.buffer("ringsmith", 0x1000_0000, 8192);
    let first = root.open("ringsmith", None).unwrap();
    refused(
        root.open("ringsmith", None),
        "board:uio:x: another program has the port",
    );
    refused(
        root.open("second", Some("ringsmith")),
        "another program has the port",
    );
    drop(first);
    root.open("ringsmith", None).unwrap();
}

#[test]
fn what_is_no_core_of_ours_is_not_written_to() {
    let cases = [
        (
            vec![0; 4096],
            "identification 0x00000000, expected 0x52534350: the bitstream of a preset",
        ),
        (vec![0xff; 4096], "identification 0xffffffff"),
        (
            block(r::VERSION, 7 << 16),
            "register map 7, this driver speaks 1",
        ),
        (
            block(
                r::SHAPE,
                32 | 2 << 8 | 2 << 16 | 8 << 20 | 1 << 27 | 1 << 28,
            ),
            "the core there has a serial host",
        ),
    ];
    for (held, words) in cases {
        let root = Root::new();
        root.device(0, "ringsmith", &held);
        root.buffer("ringsmith", 0x1000_0000, 8192);
        refused(root.open("ringsmith", None), words);
        assert_eq!(fs::read(root.0.join("dev/uio0")).unwrap(), held, "{words}");
    }
}

#[test]
fn attributes_that_make_no_sense_are_refused() {
    let cases = [
        (
            "sys/class/uio/uio0/maps/map0/size",
            "x",
            "map0/size holds \"x\", no number",
        ),
        (
            "sys/class/uio/uio0/maps/map0/size",
            "0x0",
            "begin 0 bytes into a page and have 0",
        ),
        (
            "sys/class/uio/uio0/maps/map0/offset",
            "0x40",
            "begin 64 bytes into a page",
        ),
        (
            "sys/class/u-dma-buf/ringsmith/size",
            "",
            "size holds \"\", no number",
        ),
        (
            "sys/class/u-dma-buf/ringsmith/phys_addr",
            "0xffffffffffffffff",
            "8192 bytes at 0xffffffffffffffff are no memory",
        ),
        (
            "sys/class/u-dma-buf/ringsmith/dma_coherent",
            "0",
            "sync_direction cannot be opened",
        ),
    ];
    for (path, text, words) in cases {
        let root = Root::new();
        root.device(0, "ringsmith", &core());
        root.buffer("ringsmith", 0x1000_0000, 8192);
        root.put(path, text);
        refused(root.open("ringsmith", None), words);
    }
    let root = Root::new();
    root.device(0, "ringsmith", &core());
    root.buffer("ringsmith", 0x1000_0000, 8192);
    fs::remove_file(root.0.join("dev/uio0")).unwrap();
    refused(root.open("ringsmith", None), "/dev/uio0");
}

#[test]
fn memory_is_refused_where_the_core_or_the_buffer_ends() {
    let root = Root::new();
    root.device(0, "ringsmith", &core());
    root.buffer("ringsmith", 1 << 40, 8192);
    refused(
        root.open("ringsmith", None),
        "the memory for host buffers begins at 0x10000000000, addresses of this core end at 0x10000000000",
    );
    // Half of it lies beyond the core's addresses.
    root.buffer("ringsmith", (1 << 40) - 4096, 8192);
    let mut host = root.open("ringsmith", None).unwrap();
    host.reserve(4096).unwrap();
    let message = host.reserve(4097).unwrap_err().to_string();
    assert!(
        message.contains("host buffers of 4097 bytes, from 0xfffffff000 on there is room for 4096"),
        "{message}"
    );
}

#[test]
fn buffers_begin_at_a_page_beyond_four_gibibytes_and_are_cleared() {
    let root = Root::new();
    root.device(0, "ringsmith", &core());
    root.buffer("ringsmith", 0x1_4000_0010, 3 * 4096);
    let mut host = root.open("ringsmith", None).unwrap();
    let held = fs::read(root.0.join("dev/uio0")).unwrap();
    let register = |at: u32| u32::from_le_bytes(held[at as usize..][..4].try_into().unwrap());
    assert_eq!(
        (register(r::DMA_BASE_HI), register(r::DMA_BASE_LO)),
        (1, 0x4000_1000)
    );
    let mut out = [1; 16];
    assert!(
        host.read_memory(0, &mut out).is_err(),
        "nothing was given out"
    );
    host.reserve(4096).unwrap();
    host.read_memory(4080, &mut out).unwrap();
    assert_eq!(out, [0; 16]);
    host.write_memory(4080, &[7; 16]).unwrap();
    assert!(host.write_memory(4081, &[7; 16]).is_err());
    assert!(host.write_memory(u64::MAX, &[7; 16]).is_err());
    let memory = fs::read(root.0.join("dev/ringsmith")).unwrap();
    let base = 4096 - 0x10;
    assert_eq!(memory[base - 1], 0xa5);
    assert_eq!(memory[base..base + 4080], [0; 4080]);
    assert_eq!(memory[base + 4080..base + 4096], [7; 16]);
    assert_eq!(memory[base + 4096], 0xa5);
}

#[test]
fn a_core_that_was_loaded_anew_is_known() {
    let root = Root::new();
    root.device(0, "ringsmith", &core());
    root.buffer("ringsmith", 0x1000_0000, 8192);
    let mut host = root.open("ringsmith", None).unwrap();
    let file = fs::OpenOptions::new()
        .write(true)
        .open(root.0.join("dev/uio0"))
        .unwrap();
    assert_eq!(host.read_register(r::STATUS).unwrap(), 1);
    file.write_all_at(&[0; 4], r::IRQ_ENABLE.into()).unwrap();
    let message = host.read_register(r::STATUS).unwrap_err().to_string();
    assert_eq!(
        message,
        "board:uio:x: the board was reset: what it held is gone"
    );
    host.reset().unwrap();
    assert_eq!(host.read_register(r::STATUS).unwrap(), 1);
    file.write_all_at(&[0xff; 4], r::STATUS.into()).unwrap();
    let message = host.read_register(r::STATUS).unwrap_err().to_string();
    assert!(message.ends_with("the core does not answer any more: its status reads 0xffffffff"));
    assert!(host.read_register(0x1000).is_err(), "beyond the map");
}

fn card(root: &Path, memory: (u64, u64)) -> Result<Xdma, String> {
    Xdma::open(&XdmaAddress {
        card: 3,
        memory,
        done: Done::Poll,
        root: root.to_owned(),
    })
}

#[test]
fn a_card_is_refused_without_its_files_or_its_memory() {
    let root = Root::new();
    let message = card(&root.0, (0, 4096)).err().unwrap();
    assert!(
        message.contains("dev/xdma3_user: load AMD's XDMA driver"),
        "{message}"
    );
    root.put("dev/xdma3_user", core());
    assert!(
        card(&root.0, (0, 4096))
            .err()
            .unwrap()
            .contains("xdma3_h2c_0")
    );
    root.put("dev/xdma3_h2c_0", "");
    root.put("dev/xdma3_c2h_0", "");
    for memory in [(0, 0), (u64::MAX, 2), (1 << 62, 1 << 62)] {
        assert!(card(&root.0, memory).err().unwrap().contains("below 2^63"));
    }
    let mut host = card(&root.0, (0, 4096)).unwrap();
    assert_eq!(
        card(&root.0, (0, 4096)).err().unwrap(),
        "another program has the port"
    );
    // A file that ends, as a card that stops in the midst.
    assert!(
        host.read_memory(0, &mut [0; 8])
            .unwrap_err()
            .contains("ended after 0 of 8 bytes")
    );
    let without = XdmaAddress {
        card: 4,
        memory: (0, 4096),
        done: Done::Interrupt,
        root: root.0.clone(),
    };
    for end in ["user", "h2c_0", "c2h_0"] {
        root.put(&format!("dev/xdma4_{end}"), "");
    }
    assert!(
        Xdma::open(&without)
            .err()
            .unwrap()
            .contains("xdma4_events_0: ?done=poll asks")
    );
}

#[test]
fn a_cards_memory_takes_whole_transfers_at_any_address() {
    let root = Root::new();
    root.put("dev/xdma3_user", core());
    root.put("dev/xdma3_h2c_0", "");
    std::os::unix::fs::symlink(
        root.0.join("dev/xdma3_h2c_0"),
        root.0.join("dev/xdma3_c2h_0"),
    )
    .unwrap();
    let mut host = card(&root.0, (0x2_0000_0000, 1 << 30)).unwrap();
    let data: Vec<u8> = (0..3u32 << 20)
        .map(|at| (at.wrapping_mul(at) >> 7) as u8)
        .collect();
    for at in [0, 1, 4095, 65_537] {
        host.write_memory(at, &data).unwrap();
        let mut out = vec![0; data.len()];
        host.read_memory(at, &mut out).unwrap();
        assert!(out == data, "{at}");
    }
    let file = fs::File::open(root.0.join("dev/xdma3_h2c_0")).unwrap();
    let mut out = [0; 4];
    file.read_exact_at(&mut out, 0x2_0000_0000 + 65_537)
        .unwrap();
    assert_eq!(out, data[..4]);
}

#[test]
fn transfers_lie_in_their_page_as_the_card_has_them() {
    let mut bounce = vec![0; 2 * 4096 + 100];
    for address in [0, 1, 64, 4095, 0x1_0000_0fff] {
        let part = super::xdma::part(&mut bounce, address, 100);
        assert_eq!(
            (part.as_ptr() as u64 % 4096, part.len()),
            (address % 4096, 100)
        );
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Writes the known answers of `spec/vectors/ckks*.txt`.
//!
//! `cargo run -p ringsmith-ckks --example vectors -- spec/vectors` writes the files; `crates/ckks/tests/vectors.rs`
//! checks that they still come out the same, and `tests/oracle/ckks.py` recomputes every line with textbook integers.

use ckks::{
    Basis, Ciphertext, CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Evaluator,
    Polynomial, prime_chain,
};
use num_complex::Complex64;
use rlwe::{
    GaloisKeys, KeyGenerator, KeySwitchKey, PublicKey, RelinKey, RlweParamsLiteral, SecretKey,
    SecurityPolicy, Seed,
};
use rns::{Eval, RnsPoly};
use std::fmt::Write as _;

/// The files: name, levels, special primes, digits.
pub const FILES: [(&str, usize, usize, usize); 2] =
    [("ckks.txt", 2, 1, 3), ("ckks-digits.txt", 3, 2, 2)];

const N: usize = 16;
const STEPS: [i64; 2] = [1, -3];

/// A double as a hexadecimal literal, exact.
fn hex(x: f64) -> String {
    let bits = x.to_bits();
    let (sign, exponent, mantissa) = (
        if x < 0.0 { "-" } else { "" },
        (bits >> 52 & 0x7ff) as i64,
        bits & ((1 << 52) - 1),
    );
    if exponent == 0 && mantissa == 0 {
        return format!("{sign}0x0p+0");
    }
    format!("{sign}0x1.{mantissa:013x}p{:+}", exponent - 1023)
}

fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items
        .into_iter()
        .map(|x| x.to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

fn complexes(z: &[Complex64]) -> String {
    joined(z.iter().map(|z| format!("{},{}", hex(z.re), hex(z.im))))
}

struct Writer {
    out: String,
}

impl Writer {
    fn section(&mut self, name: &str) {
        let _ = writeln!(self.out, "\n[{name}]");
    }

    fn line(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.out, "{key} = {value}");
    }

    fn poly(&mut self, name: &str, poly: &RnsPoly<u64, Eval>) {
        for (i, limb) in poly.clone().to_coeff().limbs().enumerate() {
            self.line(&format!("{name}.{i}"), joined(limb));
        }
    }

    fn ciphertext(&mut self, name: &str, ct: &Ciphertext) {
        self.line(&format!("{name}.level"), ct.level());
        self.line(&format!("{name}.size"), ct.size());
        self.line(&format!("{name}.scale"), hex(ct.scale()));
        for (k, part) in ct.parts().iter().enumerate() {
            self.poly(&format!("{name}.c{k}"), part);
        }
    }

    fn key(&mut self, name: &str, key: &KeySwitchKey<u64>) {
        let uniform = key.uniform().into_iter().flatten();
        for (d, (b, a)) in key.masked().iter().zip(uniform).enumerate() {
            self.poly(&format!("{name}.{d}.b"), b);
            self.poly(&format!("{name}.{d}.a"), a);
        }
    }

    /// A case with one or two operands and a result.
    fn operation(&mut self, name: &str, operands: &[&Ciphertext], out: &Ciphertext) {
        self.section(name);
        for (ct, label) in operands.iter().zip(["a", "b"]) {
            self.ciphertext(label, ct);
        }
        self.ciphertext("out", out);
    }
}

struct Setup {
    params: CkksParams,
    secret: SecretKey<u64>,
    public: PublicKey<u64>,
    extended: PublicKey<u64>,
    relin: RelinKey<u64>,
    galois: GaloisKeys<u64>,
}

fn setup(levels: usize, special: usize, dnum: usize) -> Result<Setup, ckks::Error> {
    let (q, p) = prime_chain(N, 48, 36, levels, 48, special)?;
    let rlwe = RlweParamsLiteral {
        n: N,
        q,
        p,
        dnum,
        ..RlweParamsLiteral::default()
    };
    let literal = CkksParamsLiteral {
        rlwe,
        scale: 2f64.powi(36),
    };
    let params = CkksParams::new(&literal, SecurityPolicy::insecure())?;
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("ckks vectors"));
    let secret = generator.secret_key()?;
    let limbs = levels + 1;
    Ok(Setup {
        public: generator.public_key(&secret)?,
        extended: generator.extended_public_key(&secret)?,
        relin: generator.relin_key(&secret, limbs)?,
        galois: generator.galois_keys(&secret, &params.galois_elements(&STEPS, true), limbs)?,
        secret,
        params,
    })
}

fn sample(count: usize, salt: u32) -> Vec<Complex64> {
    let fraction =
        |k: u32| f64::from(k.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 23) - 1.0;
    (0..count as u32)
        .map(|k| Complex64::new(fraction(2 * k + salt), fraction(2 * k + 1 + salt)))
        .collect()
}

fn head(w: &mut Writer, s: &Setup) {
    w.section("params");
    w.line("n", N);
    w.line("q", joined(s.params.rlwe().q().values()));
    w.line(
        "p",
        joined(s.params.rlwe().p().map(|p| p.values()).unwrap_or_default()),
    );
    w.line("digit_limbs", s.params.rlwe().digit_len());
    w.section("keys");
    w.line("secret", joined(s.secret.coefficients()));
    let names = s.galois.elements().map(|g| format!("galois{g}"));
    w.line(
        "switch",
        joined(std::iter::once("relin".to_string()).chain(names)),
    );
    w.key("relin", s.relin.key());
    for g in s.galois.elements() {
        if let Ok((_, key)) = s.galois.get(g) {
            w.key(&format!("galois{g}"), key);
        }
    }
}

fn encoding(w: &mut Writer, s: &Setup) -> Result<(), ckks::Error> {
    let encoder = Encoder::new(&s.params);
    let level = s.params.max_level();
    let real: Vec<Complex64> = sample(N / 2, 5).iter().map(|z| z.re.into()).collect();
    let cases = [
        sample(N / 2, 1),
        real,
        sample(2, 3),
        sample(1, 4),
        vec![Complex64::ZERO; N / 2],
    ];
    for (i, z) in cases.iter().enumerate() {
        for scale in [s.params.scale(), 2f64.powi(70)] {
            let plaintext = encoder.encode_sparse(z, z.len(), level, scale)?;
            let coefficients = joined(plaintext.poly().clone().to_coeff().compose_centered());
            w.section(&format!("encode:{i}"));
            w.line("values", complexes(z));
            w.line("scale", hex(scale));
            w.line("coefficients", &coefficients);
            w.section(&format!("decode:{i}"));
            w.line("coefficients", &coefficients);
            w.line("scale", hex(scale));
            w.line("values", complexes(&encoder.decode(&plaintext)?));
        }
    }
    Ok(())
}

fn operations(w: &mut Writer, s: &Setup) -> Result<(), ckks::Error> {
    let (encoder, e) = (Encoder::new(&s.params), Evaluator::new(&s.params));
    let encryptor = Encryptor::new(&s.params, Seed::from_text("ckks vectors"));
    let (top, scale) = (s.params.max_level(), s.params.scale());
    let encrypt = |z: &[Complex64], level: usize, index: u64| {
        encryptor.encrypt(&encoder.encode(z, level, scale)?, &s.public, index)
    };
    let (x, y) = (sample(N / 2, 10), sample(N / 2, 20));
    let (a, b) = (encrypt(&x, top, 0)?, encrypt(&y, top, 1)?);
    let symmetric = encryptor.encrypt_secret(&encoder.encode(&x, 1, scale)?, &s.secret, 2)?;
    let extended = encryptor.encrypt(&encoder.encode(&y, 1, scale)?, &s.extended, 4)?;
    // e u + e0 + e1 s: each term below n · 21 · 1 or so.
    // Divided by P nothing is left of it but the rounding of both parts.
    let (fresh, rounded) = (3 * N * 21, N / 2 + 2);
    for (i, (ct, z, noise)) in [
        (&a, &x, fresh),
        (&b, &y, fresh),
        (&symmetric, &x, fresh),
        (&extended, &y, rounded),
    ]
    .into_iter()
    .enumerate()
    {
        w.section(&format!("encrypt:{i}"));
        w.line("values", complexes(z));
        w.line("noise_bound", noise);
        w.ciphertext("out", ct);
    }
    w.operation("add", &[&a, &b], &e.add(&a, &b)?);
    w.operation("sub", &[&a, &b], &e.sub(&a, &b)?);
    w.operation("negate", &[&a], &e.negate(&a)?);
    let product = e.multiply(&a, &b)?;
    w.operation("multiply", &[&a, &b], &product);
    w.operation("square", &[&a], &e.square(&a)?);
    w.operation(
        "relinearize",
        &[&product],
        &e.relinearize(&product, &s.relin)?,
    );
    let low = e.drop_to(&product, 1)?;
    w.operation("drop", &[&product], &low);
    w.operation("relinearize:low", &[&low], &e.relinearize(&low, &s.relin)?);
    w.operation("rescale", &[&product], &e.rescale(&product)?);
    w.operation("rescale:low", &[&low], &e.rescale(&low)?);
    for (steps, ct) in [(1, &a), (-3, &a), (1, &symmetric)] {
        w.operation("rotate", &[ct], &e.rotate(ct, steps, &s.galois)?);
        w.line("galois", ckks::slot_rotation_element(N, steps));
    }
    w.operation("rotate:conjugate", &[&b], &e.conjugate(&b, &s.galois)?);
    w.line("galois", rlwe::conjugation_element(N));
    plain_operands(w, s, &a)?;
    decryptions(w, s, &[&a, &symmetric, &product, &e.rescale(&product)?])?;
    polynomials(w, s, &encryptor)
}

fn plain_operands(w: &mut Writer, s: &Setup, a: &Ciphertext) -> Result<(), ckks::Error> {
    let (encoder, e) = (Encoder::new(&s.params), Evaluator::new(&s.params));
    let z = sample(N / 2, 30);
    w.operation(
        "add-plain",
        &[a],
        &e.add_plain(a, &encoder.encode(&z, a.level(), a.scale())?)?,
    );
    w.line("values", complexes(&z));
    let plain_scale = 2f64.powi(30);
    w.operation(
        "multiply-plain",
        &[a],
        &e.multiply_plain(a, &encoder.encode(&z, a.level(), plain_scale)?)?,
    );
    w.line("values", complexes(&z));
    w.line("plain_scale", hex(plain_scale));
    let c = Complex64::new(-0.625, 1.75);
    w.operation(
        "multiply-constant",
        &[a],
        &e.multiply_constant_to_scale(a, c, a.scale() * plain_scale)?,
    );
    w.line("values", complexes(&[c]));
    w.line("plain_scale", hex(plain_scale));
    Ok(())
}

fn decryptions(w: &mut Writer, s: &Setup, ciphertexts: &[&Ciphertext]) -> Result<(), ckks::Error> {
    let (decryptor, encoder) = (
        Decryptor::new(&s.params, &s.secret)?,
        Encoder::new(&s.params),
    );
    for ct in ciphertexts {
        let plaintext = decryptor.decrypt(ct)?;
        w.section("decrypt");
        w.ciphertext("a", ct);
        w.line(
            "coefficients",
            joined(plaintext.poly().clone().to_coeff().compose_centered()),
        );
        w.line("values", complexes(&encoder.decode(&plaintext)?));
    }
    Ok(())
}

fn polynomials(w: &mut Writer, s: &Setup, encryptor: &Encryptor) -> Result<(), ckks::Error> {
    let (encoder, e) = (Encoder::new(&s.params), Evaluator::new(&s.params));
    let x: Vec<Complex64> = sample(N / 2, 40).iter().map(|z| z.re.into()).collect();
    let ct = encryptor.encrypt(
        &encoder.encode(&x, s.params.max_level(), s.params.scale())?,
        &s.public,
        3,
    )?;
    for (basis, name) in [
        (Basis::Monomial, "monomial"),
        (Basis::Chebyshev, "chebyshev"),
    ] {
        let p = Polynomial::new(basis, &[0.5, 0.25, -0.75, 0.125])?;
        w.section("polynomial");
        w.line("basis", name);
        w.line(
            "coefficients",
            joined(p.coefficients().iter().map(|c| hex(*c))),
        );
        w.line("values", complexes(&x));
        w.line("tolerance", "1e-6");
        w.ciphertext("out", &e.polynomial(&ct, &p, &s.relin)?);
    }
    Ok(())
}

/// The text of one file.
///
/// # Errors
/// None for the shapes in [`FILES`].
pub fn file(levels: usize, special: usize, dnum: usize) -> Result<String, ckks::Error> {
    let s = setup(levels, special, dnum)?;
    let mut w = Writer { out: String::new() };
    w.out.push_str("# SPDX-License-Identifier: Apache-2.0\n");
    w.out.push_str("# CKKS known answers. Generator: crates/ckks/examples/vectors.rs; verifier: tests/oracle/ckks.py.\n");
    w.out.push_str("# Polynomials are coefficients, one line of residues for each prime; doubles are hexadecimal.\n");
    head(&mut w, &s);
    encoding(&mut w, &s)?;
    operations(&mut w, &s)?;
    Ok(w.out)
}

#[allow(dead_code)] // Unused where the tests include this file.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("give the folder to write to")?;
    for (name, levels, special, dnum) in FILES {
        std::fs::write(
            std::path::Path::new(&folder).join(name),
            file(levels, special, dnum)?,
        )?;
    }
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
//! Messages: labelled objects as bytes; and what kind of object bytes hold.

use crate::errors::{Kind, OrRaise, Raise};
use program::{Message, Role, Section};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use rlwe::wire::{self, Tag};

/// Names of the roles, as `ringsmith.runtime.identity.Role` has them.
const ROLES: [(&str, Role); 6] = [
    ("PUBLIC_KEY", Role::PublicKey),
    ("EVALUATION_KEYS", Role::EvaluationKeys),
    ("ARGUMENTS", Role::Arguments),
    ("RESULT", Role::Result),
    ("CLIENT", Role::Client),
    ("ROUNDS", Role::Rounds),
];

/// Names of objects in messages.
fn name_of(tag: Tag) -> &'static str {
    match tag {
        Tag::RlweParams => "ring-LWE parameters",
        Tag::BfvParams => "BFV parameters",
        Tag::CkksParams => "CKKS parameters",
        Tag::SecretKey => "secret key",
        Tag::PublicKey => "public key",
        Tag::RelinKey => "relinearization key",
        Tag::GaloisKeys => "rotation keys",
        Tag::ExtendedPublicKey => "extended public key",
        Tag::EncapsulationKeys => "keys to a sparse secret",
        Tag::WholeRelinKey => "relinearization key with both halves",
        Tag::WholeGaloisKeys => "rotation keys with both halves",
        Tag::WholePublicKey => "public key with both halves",
        Tag::WholeExtendedPublicKey => "extended public key with both halves",
        Tag::BfvPlaintext => "BFV plaintext",
        Tag::BfvCiphertext => "BFV ciphertext",
        Tag::CkksPlaintext => "CKKS plaintext",
        Tag::CkksCiphertext => "CKKS ciphertext",
        Tag::BootstrapKeys => "bootstrapping keys",
        Tag::Program => "program",
        Tag::Message => "message",
    }
}

/// A message in the byte format; `program` is the hash of a program by section.
#[pyfunction]
fn message_to_bytes<'py>(
    py: Python<'py>,
    role: &str,
    program: Vec<(String, [u8; 16])>,
    key: String,
    parts: Vec<PyBackedBytes>,
) -> PyResult<Bound<'py, PyBytes>> {
    let parts = parts.iter().map(|part| &**part).collect();
    let message = message(role, program, key, parts)?;
    Ok(PyBytes::new(py, &message.to_bytes().or_raise()?))
}

/// The label of such a message, as `Session.answer` takes it.
#[pyfunction]
fn message_label<'py>(
    py: Python<'py>,
    role: &str,
    program: Vec<(String, [u8; 16])>,
    key: String,
) -> PyResult<Bound<'py, PyBytes>> {
    let message = message(role, program, key, vec![])?;
    Ok(PyBytes::new(py, &message.label().or_raise()?))
}

fn message<'a>(
    role: &str,
    program: Vec<(String, [u8; 16])>,
    key: String,
    parts: Vec<&'a [u8]>,
) -> PyResult<Message<'a>> {
    let role = ROLES.iter().find(|(name, _)| *name == role);
    let (_, role) = role.ok_or_else(|| Kind::Input.error("no such role"))?;
    Ok(Message {
        role: *role,
        program: program
            .into_iter()
            .map(|(name, hash)| Section { name, hash })
            .collect(),
        key,
        parts,
    })
}

/// The bytes of such a message around its parts: before the first, before each further one, and behind the last.
/// `label`: of `message_label`.
#[pyfunction]
fn message_around<'py>(
    py: Python<'py>,
    label: &[u8],
    parts: Vec<PyBackedBytes>,
) -> Vec<Bound<'py, PyBytes>> {
    let parts: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
    let around = Message::around(label, &parts);
    around.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
}

/// Reads `message_to_bytes`: the label, and the parts.
#[pyfunction]
fn message_from_bytes<'py>(
    py: Python<'py>,
    data: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, Vec<Bound<'py, PyBytes>>)> {
    let (label, parts) = Message::opened(data).or_raise()?;
    let parts = parts.iter().map(|part| PyBytes::new(py, part)).collect();
    Ok((PyBytes::new(py, label), parts))
}

/// Role, sections, key.
type Label<'py> = (&'static str, Vec<(String, Bound<'py, PyBytes>)>, String);

/// Reads `message_label`.
#[pyfunction]
fn label_from_bytes<'py>(py: Python<'py>, label: &[u8]) -> PyResult<Label<'py>> {
    let message = Message::from_label(label).or_raise()?;
    let role = ROLES.iter().find(|(_, role)| *role == message.role);
    let (name, _) = role.expect("every role has a name");
    let program = message.program.into_iter();
    Ok((
        name,
        program
            .map(|section| (section.name, PyBytes::new(py, &section.hash)))
            .collect(),
        message.key,
    ))
}

/// Envelope of an object of the byte format: `kind`, `parameters` (fingerprint), `bytes` of its payload.
#[pyfunction]
fn object_kind<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let header = wire::inspect(data).map_err(|e| e.kind().error(&e))?;
    let facts = PyDict::new(py);
    facts.set_item("kind", name_of(header.tag))?;
    facts.set_item("parameters", header.params.to_string())?;
    facts.set_item("bytes", data.len())?;
    Ok(facts)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(message_to_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(message_label, m)?)?;
    m.add_function(wrap_pyfunction!(message_around, m)?)?;
    m.add_function(wrap_pyfunction!(message_from_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(label_from_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(object_kind, m)?)
}

// SPDX-License-Identifier: Apache-2.0
// Prints spec/vectors/seal.txt: objects that SEAL wrote, by node-seal 7.0.0 (SEAL 4.1.2).
//
//     npm install node-seal@7.0.0 && node vectors.mjs > seal.txt
//
// It needs a Node.js with typed references in WebAssembly (22). SEAL draws its own randomness: each run prints other bytes.

import SEAL from 'node-seal'

const seal = await SEAL()
const N = 64
const BITS = [40, 40, 40]
const { none, zlib, zstd } = seal.ComprModeType

console.log('# SPDX-License-Identifier: Apache-2.0')
console.log('# Objects of SEAL 4.1.2, BFV and CKKS, made by tests/seal/vectors.mjs, read by python/ringsmith/interchange/test_seal.py; bytes hexadecimal')
console.log('')

const hex = (object, mode) => Buffer.from(object.saveToArray(mode)).toString('hex')

function context(scheme) {
  const set = new seal.EncryptionParameters(seal.SchemeType[scheme])
  set.setPolyModulusDegree(N)
  set.setCoeffModulus(seal.CoeffModulus.Create(N, Int32Array.from(BITS)))
  if (scheme === 'bfv') set.setPlainModulus(seal.PlainModulus.Batching(N, 16))
  return [set, new seal.SEALContext(set, true, seal.SecLevelType.none)]
}

function encoder(scheme, own) {
  if (scheme === 'bfv') {
    const batch = new seal.BatchEncoder(own)
    return (values, plain) => batch.encode(BigInt64Array.from(values, BigInt), plain)
  }
  const real = new seal.CKKSEncoder(own)
  return (values, plain) => real.encode(Float64Array.from(values), 2 ** 30, plain)
}

for (const scheme of ['bfv', 'ckks']) {
  const [set, own] = context(scheme)
  const keys = new seal.KeyGenerator(own)
  const encryptor = new seal.Encryptor(own, keys.createPublicKey(), keys.secretKey())
  const encode = encoder(scheme, own)
  const slots = scheme === 'bfv' ? N : N / 2
  const x = Array.from({ length: slots }, (_, i) => i - 20)
  const y = Array.from({ length: slots }, (_, i) => 3 * i - 50)
  const plain = (values) => {
    const made = new seal.Plaintext()
    encode(values, made)
    return made
  }
  const ciphertext = new seal.Ciphertext()
  encryptor.encrypt(plain(x), ciphertext)
  const steps = Int32Array.from([1])
  const lines = {
    case: scheme,
    parameters: hex(set, zstd),
    'parameters none': hex(set, none),
    secret: hex(keys.secretKey(), none),
    public: hex(keys.createPublicKey(), zlib),
    'public seeded': hex(keys.createPublicKeySerializable(), none),
    relin: hex(keys.createRelinKeys(), zstd),
    'relin seeded': hex(keys.createRelinKeysSerializable(), zlib),
    galois: hex(keys.createGaloisKeysWithSteps(steps), zlib),
    'galois seeded': hex(keys.createGaloisKeysSerializableWithSteps(steps), none),
    'values x': x.join(' '),
    'values y': y.join(' '),
    x: hex(ciphertext, zlib),
    'x none': hex(ciphertext, none),
    'y seeded': hex(encryptor.encryptSymmetricSerializable(plain(y)), zstd),
    plaintext: hex(plain(x), none),
  }
  for (const [name, value] of Object.entries(lines)) console.log(`${name}: ${value}`)
  console.log('')
}

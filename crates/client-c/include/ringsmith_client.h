/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small client of ringsmith (docs/client.md): keys, encryption and decryption of BFV and CKKS.
 *
 * The library needs malloc and free where there is no operating system. It keeps nothing of what it is given, and
 * wipes what is secret. Functions return RS_OK or one of the other codes. Unless RS_OK is returned nothing is written, *out
 * neither: only RS_ROOM sets *length, to the bytes that are needed. Pointers must be valid for what they are said to hold.
 */
#ifndef RINGSMITH_CLIENT_H
#define RINGSMITH_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RS_OK = 0,
    RS_PARAMETERS = 1,       /* a set beyond the limits, or that is none */
    RS_OTHER_PARAMETERS = 2, /* bytes of another parameter set */
    RS_OTHER_KEY = 3,        /* bytes of another secret key */
    RS_BYTES = 4,            /* bytes that are no such object, or damaged */
    RS_MESSAGE = 5,          /* a coefficient or value out of range, or too many values */
    RS_ROOM = 6,             /* the buffer is too small: *length says what is needed */
    RS_NULL = 7,             /* a pointer is null */
    RS_INSECURE = 8          /* a set below 128 bits of security, without allow_insecure */
};

/* A parameter set: that of the engine, since ciphertexts name it, and with the engine's rules. Set all of it, or begin
 * with zeros: rs_params set = {0}. */
typedef struct {
    uint32_t n;    /* ring degree, a power of two from 16 to 8192 */
    uint32_t dnum; /* digits of key switching; as many as data primes where nothing else was chosen */
    const uint64_t *data; /* different primes of 32 to 60 bits that are 1 modulo 2n, as the special ones are */
    size_t data_count;
    const uint64_t *special; /* may be null where special_count is 0 */
    size_t special_count;
    uint64_t t;   /* BFV: plaintext modulus below 2^31; 0: CKKS */
    double scale; /* CKKS: scale of fresh ciphertexts, from 2 to 2^60 and below half the data primes' product */
    uint32_t allow_insecure; /* not 0: take a set below 128 bits of security */
} rs_params;

/* Holds a secret key. */
typedef struct rs_client rs_client;

/* Bytes that an operation holds at most, beside its arguments, its result and the stack. */
size_t rs_client_memory(uint32_t n);

/* The client that a seed makes: 32 bytes of true randomness. */
int rs_client_new(const rs_params *params, const uint8_t seed[32], rs_client **out);
/* The client of a secret key's bytes. */
int rs_client_read(const rs_params *params, const uint8_t *key, size_t key_length, rs_client **out);
void rs_client_free(rs_client *client);

/* The keys as bytes; the first is secret. */
int rs_client_secret_key(const rs_client *client, uint8_t *out, size_t room, size_t *length);
int rs_client_public_key(const rs_client *client, const uint8_t seed[32], uint8_t *out, size_t room, size_t *length);

/* A message of n coefficients: 0..t-1 (BFV), up to 2^61 in magnitude (CKKS). A (seed, number) serves one message. */
int rs_client_encrypt(const rs_client *client, const int64_t *message, const uint8_t seed[32], uint64_t number,
                      uint8_t *out, size_t room, size_t *length);
int rs_encrypt_public(const rs_params *params, const uint8_t *key, size_t key_length, const int64_t *message,
                      const uint8_t seed[32], uint64_t number, uint8_t *out, size_t room, size_t *length);
int rs_client_decrypt(const rs_client *client, const uint8_t *ciphertext, size_t ciphertext_length, int64_t *message);

/* BFV's slots: up to n values in -t/2..t/2 as a message of n coefficients, and n values of a message. */
int rs_slots_encode(const rs_params *params, const int64_t *values, size_t count, int64_t *message);
int rs_slots_decode(const rs_params *params, const int64_t *message, int64_t *values);

#ifdef __cplusplus
}
#endif

#endif

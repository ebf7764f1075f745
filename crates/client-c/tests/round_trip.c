/* SPDX-License-Identifier: Apache-2.0 */
/* A client in C: encrypts slots, decrypts them, is told what is wrong. Prints the ciphertext in hexadecimal. */
#include "ringsmith_client.h"

#include <stdio.h>
#include <stdlib.h>

#define N 1024
#define CHECK(condition)                                       \
    do {                                                       \
        if (!(condition)) {                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            return 1;                                          \
        }                                                      \
    } while (0)

int main(void) {
    const uint64_t data[] = {8589852673};
    rs_params params = {N, 1, data, 1, NULL, 0, 12289, 0.0, 1};
    uint8_t keys[32], messages[32];
    int64_t values[N], message[N], found[N];
    for (int i = 0; i < 32; i++) keys[i] = 7, messages[i] = 9;
    for (int i = 0; i < N; i++) values[i] = i - 500;

    rs_client *client = NULL, *again = NULL;
    CHECK(rs_client_new(&params, keys, &client) == RS_OK);
    CHECK(rs_slots_encode(&params, values, N, message) == RS_OK);
    size_t length = 0, key_length = 0, public_length = 0;
    CHECK(rs_client_encrypt(client, message, messages, 0, NULL, 0, &length) == RS_ROOM);
    size_t untouched = 3;
    CHECK(rs_client_encrypt(client, message, messages, 0, NULL, length, &untouched) == RS_NULL && untouched == 3);
    uint8_t *bytes = malloc(length);
    CHECK(rs_client_encrypt(client, message, messages, 0, bytes, length, &length) == RS_OK);
    CHECK(rs_client_decrypt(client, bytes, length, message) == RS_OK);
    CHECK(rs_slots_decode(&params, message, found) == RS_OK);
    for (int i = 0; i < N; i++) CHECK(found[i] == values[i]);
    for (size_t i = 0; i < length; i++) printf("%02x", bytes[i]);
    printf("\n");

    static uint8_t key[4096], public_key[8192], sent[16384];
    CHECK(rs_client_secret_key(client, key, sizeof key, &key_length) == RS_OK);
    CHECK(rs_client_read(&params, key, key_length, &again) == RS_OK);
    CHECK(rs_client_public_key(client, keys, public_key, sizeof public_key, &public_length) == RS_OK);
    CHECK(rs_encrypt_public(&params, public_key, public_length, message, messages, 1, sent, sizeof sent, &length) == RS_OK);
    CHECK(rs_client_decrypt(again, sent, length, found) == RS_OK);
    for (int i = 0; i < N; i++) CHECK(found[i] == message[i]);

    sent[100] ^= 1;
    CHECK(rs_client_decrypt(client, sent, length, found) == RS_BYTES);
    CHECK(rs_client_decrypt(client, NULL, length, found) == RS_NULL);
    CHECK(rs_client_decrypt(NULL, sent, length, found) == RS_NULL);
    message[3] = -1;
    CHECK(rs_client_encrypt(client, message, messages, 0, bytes, length, &length) == RS_MESSAGE);
    params.n = 1000;
    rs_client *kept = again;
    CHECK(rs_client_read(&params, key, key_length, &again) == RS_PARAMETERS && again == kept);
    CHECK(rs_client_memory(N) == 28 * N);
    rs_client_free(client);
    rs_client_free(again);
    rs_client_free(NULL);
    free(bytes);
    return 0;
}

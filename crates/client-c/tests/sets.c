/* SPDX-License-Identifier: Apache-2.0 */
/* Reads sets from standard input and prints the code of each; fails where a refusal wrote anything. */
#include "ringsmith_client.h"

#include <stdio.h>
#include <string.h>

#define MOST 16
#define N 8192

static size_t list(uint64_t *out) {
    unsigned long long count = 0, value = 0;
    if (scanf("%llu", &count) != 1 || count > MOST) return MOST + 1;
    for (size_t i = 0; i < count; i++) {
        if (scanf("%llu", &value) != 1) return MOST + 1;
        out[i] = value;
    }
    return count;
}

int main(void) {
    static uint64_t data[MOST], special[MOST];
    static uint8_t seed[32], key[64], out[64], canary[64];
    static int64_t message[N], values[N];
    unsigned long long t = 0;
    rs_params set = {0};
    while (scanf("%u %u", &set.n, &set.dnum) == 2) {
        set.data = data, set.special = special;
        set.data_count = list(data), set.special_count = list(special);
        if (set.data_count > MOST || set.special_count > MOST) return 1;
        if (scanf("%llu %lf %u", &t, &set.scale, &set.allow_insecure) != 3) return 2;
        set.t = t;
        rs_client *const before = (rs_client *)out;
        rs_client *client = before;
        const int code = rs_client_new(&set, seed, &client);
        printf("%d\n", code);
        if (code == RS_OK) {
            rs_client_free(client);
            continue;
        }
        size_t length = 3;
        if (client != before) return 3;
        if (rs_client_read(&set, key, sizeof key, &client) != code || client != before) return 4;
        if (rs_encrypt_public(&set, key, sizeof key, message, seed, 0, out, sizeof out, &length) != code) return 5;
        if (length != 3 || memcmp(out, canary, sizeof out) != 0) return 6;
        if (rs_slots_encode(&set, values, 1, message) != code || rs_slots_decode(&set, message, values) != code) return 7;
        for (int i = 0; i < N; i++)
            if (message[i] != 0 || values[i] != 0) return 8;
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand"
	"os"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// refreshRow is what one bootstrapping takes and gives; all bench scripts of bootstrappings print it.
type refreshRow struct {
	Library     string  `json:"library"`
	Set         string  `json:"set"`
	N           int     `json:"n"`
	Slots       int     `json:"slots"`
	Levels      int     `json:"levels"`
	Seconds     float64 `json:"seconds"`
	KeySeconds  float64 `json:"key_seconds"`
	AverageBits float64 `json:"average_bits"`
	LeastBits   float64 `json:"least_bits"`
	WireBytes   int     `json:"wire_bytes"`
	PeakBytes   int     `json:"peak_bytes"`
}

// bootstrap times Lattigo's default set with a dense secret of its degree, for complex messages in all slots.
func bootstrap(logN string, repeats int) {
	set, name := bootstrapping.N16QP1767H32768H32, "N16QP1767H32768H32"
	if logN == "15" {
		set, name = bootstrapping.N15QP880H16384H32, "N15QP880H16384H32"
	}
	params := must(ckks.NewParametersFromLiteral(set.SchemeParams))
	own := must(bootstrapping.NewParametersFromLiteral(params, set.BootstrappingParams))
	secret := rlwe.NewKeyGenerator(params).GenSecretKeyNew()
	start := time.Now()
	keys, _, err := own.GenEvaluationKeys(secret)
	check(err)
	keySeconds := time.Since(start).Seconds()
	evaluator := must(bootstrapping.NewEvaluator(own, keys))
	encoder := ckks.NewEncoder(params)
	encryptor, decryptor := rlwe.NewEncryptor(params, secret), rlwe.NewDecryptor(params, secret)
	slots := params.MaxSlots()
	message := make([]complex128, slots)
	for i := range message {
		message[i] = complex(2*rand.Float64()-1, 2*rand.Float64()-1)
	}
	plaintext := ckks.NewPlaintext(params, 0)
	check(encoder.Encode(message, plaintext))
	fastest := math.Inf(1)
	var result *rlwe.Ciphertext
	for range repeats {
		ciphertext := must(encryptor.EncryptNew(plaintext))
		start = time.Now()
		result = must(evaluator.Bootstrap(ciphertext))
		fastest = min(fastest, time.Since(start).Seconds())
	}
	found := make([]complex128, slots)
	check(encoder.Decode(decryptor.DecryptNew(result), found))
	sum, worst := 0.0, 0.0
	for i, value := range message {
		off := cmplx.Abs(found[i] - value)
		sum, worst = sum+off, max(worst, off)
	}
	row := refreshRow{
		"Lattigo 6.2.0", name, params.N(), slots, result.Level(), fastest, keySeconds,
		-math.Log2(sum / float64(slots)), -math.Log2(worst), keys.BinarySize(), peakRSS(),
	}
	check(json.NewEncoder(os.Stdout).Encode(row))
	if worst > 1e-2 {
		fmt.Fprintln(os.Stderr, "Lattigo's refreshed message is wrong")
		os.Exit(1)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// size is what one object takes: its residues in memory, and what Lattigo writes.
type size struct {
	Memory     int `json:"memory_bytes"`
	Serialized int `json:"serialized_bytes"`
}

type memoryRow struct {
	Scheme     string          `json:"scheme"`
	N          int             `json:"n"`
	ModuliBits []int           `json:"moduli_bits"`
	Library    string          `json:"library"`
	Objects    map[string]size `json:"objects"`
	PeakRSS    int             `json:"peak_rss_bytes"`
	Correct    bool            `json:"correct"`
}

type marshaler interface{ MarshalBinary() ([]byte, error) }

func words(p ring.Poly) int { return 8 * len(p.Coeffs) * p.N() }

func pairs(rows ...rlwe.VectorQP) (bytes int) {
	for _, row := range rows {
		for _, p := range row {
			bytes += words(p.Q)
			if len(p.P.Coeffs) > 0 {
				bytes += words(p.P)
			}
		}
	}
	return bytes
}

func gadget(key rlwe.EvaluationKey) (bytes int) {
	for _, row := range key.Value {
		bytes += pairs(row...)
	}
	return bytes
}

func sizeOf(memory int, object marshaler) size {
	return size{memory, len(must(object.MarshalBinary()))}
}

func objects(pk *rlwe.PublicKey, rlk *rlwe.RelinearizationKey, gk *rlwe.GaloisKey, ct *rlwe.Ciphertext) map[string]size {
	residues := 0
	for _, part := range ct.Value {
		residues += words(part)
	}
	return map[string]size{
		"public_key":   sizeOf(pairs(pk.Value), pk),
		"relin_key":    sizeOf(gadget(rlk.EvaluationKey), rlk),
		"rotation_key": sizeOf(gadget(gk.EvaluationKey), gk),
		"ciphertext":   sizeOf(residues, ct),
	}
}

// memory runs a small workload and prints the sizes of keys and a fresh ciphertext, and its own peak memory.
func memory(scheme string) {
	row := memoryRow{Scheme: scheme, ModuliBits: []int{}, Library: "Lattigo 6.2.0", Objects: map[string]size{}, Correct: true}
	switch scheme {
	case "bfv":
		memoryBFV(&row)
	case "ckks":
		memoryCKKS(&row)
	}
	row.PeakRSS = peakRSS()
	fmt.Println(string(must(json.Marshal(row))))
}

// peakRSS is the most memory that this process has had at a time.
func peakRSS() (bytes int) {
	for line := range strings.Lines(string(must(os.ReadFile("/proc/self/status")))) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			must(fmt.Sscanf(rest, "%d kB", &bytes))
		}
	}
	return 1024 * bytes
}

func memoryBFV(row *memoryRow) {
	const t = 65537
	q, p := []int{43, 43, 44, 44}, []int{44}
	params := must(bgv.NewParametersFromLiteral(bgv.ParametersLiteral{LogN: 13, LogQ: q, LogP: p, PlaintextModulus: t}))
	keygen := rlwe.NewKeyGenerator(params)
	sk, pk := keygen.GenKeyPairNew()
	rlk, gk := keygen.GenRelinearizationKeyNew(sk), keygen.GenGaloisKeyNew(params.GaloisElement(1), sk)
	encoder, encryptor := bgv.NewEncoder(params), rlwe.NewEncryptor(params, pk)
	eval := bgv.NewEvaluator(params, rlwe.NewMemEvaluationKeySet(rlk, gk), true)
	row.N, row.ModuliBits = params.N(), append(q, p...)
	x, y, out := make([]uint64, row.N), make([]uint64, row.N), make([]uint64, row.N)
	for i := range x {
		x[i], y[i] = uint64(3*i+1)%t, uint64(7*i+2)%t
	}
	px, py := bgv.NewPlaintext(params, params.MaxLevel()), bgv.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, px))
	check(encoder.Encode(y, py))
	cx, cy := must(encryptor.EncryptNew(px)), must(encryptor.EncryptNew(py))
	product := bgv.NewCiphertext(params, 1, params.MaxLevel())
	check(eval.MulRelinScaleInvariant(cx, cy, product))
	check(encoder.Decode(rlwe.NewDecryptor(params, sk).DecryptNew(product), out))
	for i := range out {
		row.Correct = row.Correct && out[i] == x[i]*y[i]%t
	}
	row.Objects = objects(pk, rlk, gk, cx)
}

func memoryCKKS(row *memoryRow) {
	q, p := chain(7, 45), []int{45}
	params := must(ckks.NewParametersFromLiteral(ckks.ParametersLiteral{LogN: 14, LogQ: q, LogP: p, LogDefaultScale: 40}))
	keygen := rlwe.NewKeyGenerator(params)
	sk, pk := keygen.GenKeyPairNew()
	rlk, gk := keygen.GenRelinearizationKeyNew(sk), keygen.GenGaloisKeyNew(params.GaloisElement(1), sk)
	encoder, encryptor := ckks.NewEncoder(params), rlwe.NewEncryptor(params, pk)
	eval := ckks.NewEvaluator(params, rlwe.NewMemEvaluationKeySet(rlk, gk))
	row.N, row.ModuliBits = params.N(), append(q, p...)
	x, y, out := make([]float64, row.N/2), make([]float64, row.N/2), make([]float64, row.N/2)
	for i := range x {
		x[i], y[i] = math.Sin(float64(i)), math.Cos(float64(i))
	}
	px, py := ckks.NewPlaintext(params, params.MaxLevel()), ckks.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, px))
	check(encoder.Encode(y, py))
	cx, cy := must(encryptor.EncryptNew(px)), must(encryptor.EncryptNew(py))
	product := must(eval.MulRelinNew(cx, cy))
	check(encoder.Decode(rlwe.NewDecryptor(params, sk).DecryptNew(product), out))
	for i := range out {
		row.Correct = row.Correct && math.Abs(out[i]-x[i]*y[i]) < 1e-3
	}
	row.Objects = objects(pk, rlk, gk, cx)
}

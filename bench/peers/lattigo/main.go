// SPDX-License-Identifier: Apache-2.0

// Times Lattigo's operations and prints one JSON line each; with the arguments `memory bfv|ckks|nothing`, sizes of keys
// and ciphertexts instead; with `kernels`, a whole program from standard input; with
// `bootstrap 15|16 REPEATS`, a bootstrapping at that log2 of the degree. BFV is Lattigo's scale-invariant BGV.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/lintrans"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
	"github.com/tuneinsight/lattigo/v6/utils/sampling"
)

type row struct {
	Operation  string  `json:"operation"`
	N          int     `json:"n"`
	ModuliBits []int   `json:"moduli_bits"`
	Library    string  `json:"library"`
	MedianUs   float64 `json:"median_us"`
	Spread     float64 `json:"spread"`
	Correct    bool    `json:"correct"`
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure returns the median and the interquartile spread over at least 0.4 s or 400 runs, after a warm-up.
func measure(op func()) (median, spread float64) {
	op()
	var us []float64
	begin := time.Now()
	for len(us) < 7 || (len(us) < 400 && time.Since(begin) < 400*time.Millisecond) {
		start := time.Now()
		op()
		us = append(us, float64(time.Since(start).Nanoseconds())/1e3)
	}
	sort.Float64s(us)
	median = us[len(us)/2]
	return median, (us[len(us)*3/4] - us[len(us)/4]) / median
}

func report(operation string, n int, bits []int, op func(), correct func() bool) {
	median, spread := measure(op)
	line := must(json.Marshal(row{operation, n, bits, "Lattigo 6.2.0", median, spread, correct()}))
	fmt.Println(string(line))
}

func benchNTT(logN, width int) {
	n := 1 << logN
	generator := ring.NewNTTFriendlyPrimesGenerator(uint64(width), uint64(2*n))
	r := must(ring.NewRing(n, []uint64{must(generator.NextDownstreamPrime())}))
	prng := must(sampling.NewPRNG())
	p := ring.NewUniformSampler(prng, r).ReadNew()
	original := p.CopyNew()
	r.NTT(p, p)
	r.INTT(p, p)
	same := p.Equal(original)
	report("ntt", n, []int{width}, func() { r.NTT(p, p) }, func() bool { return same })
	report("intt", n, []int{width}, func() { r.INTT(p, p) }, func() bool { return same })
}

func benchBFV(logN int, logQ, logP []int, t uint64) {
	params := must(bgv.NewParametersFromLiteral(bgv.ParametersLiteral{LogN: logN, LogQ: logQ, LogP: logP, PlaintextModulus: t}))
	keygen := rlwe.NewKeyGenerator(params)
	sk, pk := keygen.GenKeyPairNew()
	keys := rlwe.NewMemEvaluationKeySet(keygen.GenRelinearizationKeyNew(sk), keygen.GenGaloisKeyNew(params.GaloisElement(1), sk))
	encoder, encryptor, decryptor := bgv.NewEncoder(params), rlwe.NewEncryptor(params, pk), rlwe.NewDecryptor(params, sk)
	eval := bgv.NewEvaluator(params, keys, true)
	n, bits := 1<<logN, append(append([]int{}, logQ...), logP...)
	x, y, out := make([]uint64, n), make([]uint64, n), make([]uint64, n)
	for i := range x {
		x[i], y[i] = uint64(3*i+1)%t, uint64(7*i+2)%t
	}
	pt := bgv.NewPlaintext(params, params.MaxLevel())
	py := bgv.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(y, py))
	check(encoder.Encode(x, pt))
	cx, cy := must(encryptor.EncryptNew(pt)), must(encryptor.EncryptNew(py))
	equals := func(ct *rlwe.Ciphertext, want func(i int) uint64) func() bool {
		return func() bool {
			check(encoder.Decode(decryptor.DecryptNew(ct), out))
			for i := range out {
				if out[i] != want(i) {
					return false
				}
			}
			return true
		}
	}
	product := func(i int) uint64 { return x[i] * y[i] % t }
	ct := must(encryptor.EncryptNew(pt))
	// Lattigo's only way to encrypt: over Q·P, divided by P.
	for _, name := range []string{"bfv-encrypt", "bfv-encrypt-extended"} {
		report(name, n, bits, func() { check(encoder.Encode(x, pt)); check(encryptor.Encrypt(pt, ct)) }, equals(ct, func(i int) uint64 { return x[i] }))
	}
	report("bfv-decrypt", n, bits, func() { decryptor.Decrypt(cx, py); check(encoder.Decode(py, out)) }, equals(cx, func(i int) uint64 { return x[i] }))
	// No bfv-decrypt-only: what is decrypted here is not scaled to t and rounded before it is decoded.
	c3, c2 := bgv.NewCiphertext(params, 2, params.MaxLevel()), bgv.NewCiphertext(params, 1, params.MaxLevel())
	report("bfv-multiply", n, bits, func() { check(eval.MulScaleInvariant(cx, cy, c3)) }, equals(c3, product))
	if len(logP) == 0 {
		return
	}
	report("bfv-multiply-relinearize", n, bits, func() { check(eval.MulRelinScaleInvariant(cx, cy, c2)) }, equals(c2, product))
	report("bfv-relinearize", n, bits, func() { check(eval.Relinearize(c3, c2)) }, equals(c2, product))
	report("bfv-rotate", n, bits, func() { check(eval.RotateColumns(cx, 1, c2)) }, func() bool {
		check(encoder.Decode(decryptor.DecryptNew(c2), out))
		return out[0] == x[1]
	})
}

func benchCKKS(logN int, logQ, logP []int) {
	params := must(ckks.NewParametersFromLiteral(ckks.ParametersLiteral{LogN: logN, LogQ: logQ, LogP: logP, LogDefaultScale: 40}))
	keygen := rlwe.NewKeyGenerator(params)
	sk, pk := keygen.GenKeyPairNew()
	keys := rlwe.NewMemEvaluationKeySet(keygen.GenRelinearizationKeyNew(sk), keygen.GenGaloisKeyNew(params.GaloisElement(1), sk))
	encoder, encryptor, decryptor := ckks.NewEncoder(params), rlwe.NewEncryptor(params, pk), rlwe.NewDecryptor(params, sk)
	eval := ckks.NewEvaluator(params, keys)
	n, bits := 1<<logN, append(append([]int{}, logQ...), logP...)
	x, y, out := make([]float64, n/2), make([]float64, n/2), make([]float64, n/2)
	for i := range x {
		x[i], y[i] = math.Sin(float64(i)), math.Cos(float64(i))
	}
	px, py := ckks.NewPlaintext(params, params.MaxLevel()), ckks.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, px))
	check(encoder.Encode(y, py))
	cx, cy := must(encryptor.EncryptNew(px)), must(encryptor.EncryptNew(py))
	near := func(ct *rlwe.Ciphertext, want func(i int) float64) func() bool {
		return func() bool {
			check(encoder.Decode(decryptor.DecryptNew(ct), out))
			for i := range out {
				if math.Abs(out[i]-want(i)) > 1e-3 {
					return false
				}
			}
			return true
		}
	}
	product := func(i int) float64 { return x[i] * y[i] }
	ct := must(encryptor.EncryptNew(px))
	report("ckks-encode", n, bits, func() { check(encoder.Encode(x, px)) }, func() bool { return true })
	report("ckks-encrypt", n, bits, func() { check(encryptor.Encrypt(px, ct)) }, near(ct, func(i int) float64 { return x[i] }))
	c3, c2 := ckks.NewCiphertext(params, 2, params.MaxLevel()), ckks.NewCiphertext(params, 1, params.MaxLevel())
	report("ckks-multiply", n, bits, func() { check(eval.Mul(cx, cy, c3)) }, near(c3, product))
	report("ckks-relinearize", n, bits, func() { check(eval.Relinearize(c3, c2)) }, near(c2, product))
	lower := ckks.NewCiphertext(params, 1, params.MaxLevel()-1)
	report("ckks-rescale", n, bits, func() { check(eval.Rescale(c2, lower)) }, near(lower, product))
	report("ckks-multiply-relinearize-rescale", n, bits, func() {
		check(eval.MulRelin(cx, cy, c2))
		check(eval.Rescale(c2, lower))
	}, near(lower, product))
	report("ckks-rotate", n, bits, func() { check(eval.Rotate(cx, 1, c2)) }, near(c2, func(i int) float64 { return x[(i+1)%(n/2)] }))
}

// benchLinear times a product with a plain matrix of so many diagonals, by baby steps and giant steps.
func benchLinear(logN int, logQ, logP []int, count int) {
	params := must(ckks.NewParametersFromLiteral(ckks.ParametersLiteral{LogN: logN, LogQ: logQ, LogP: logP, LogDefaultScale: 40}))
	keygen := rlwe.NewKeyGenerator(params)
	sk, pk := keygen.GenKeyPairNew()
	encoder, encryptor, decryptor := ckks.NewEncoder(params), rlwe.NewEncryptor(params, pk), rlwe.NewDecryptor(params, sk)
	n, bits := 1<<logN, append(append([]int{}, logQ...), logP...)
	slots := n / 2
	x := make([]float64, slots)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	weight := func(d, i int) float64 { return math.Cos(float64(d*i+d)) / float64(count) }
	diagonals := make(lintrans.Diagonals[float64])
	for d := range count {
		diagonals[d] = make([]float64, slots)
		for i := range slots {
			diagonals[d][i] = weight(d, i)
		}
	}
	px := ckks.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, px))
	cx := must(encryptor.EncryptNew(px))
	transform := lintrans.NewTransformation(params, lintrans.Parameters{
		DiagonalsIndexList:        diagonals.DiagonalsIndexList(),
		LevelQ:                    params.MaxLevel(),
		LevelP:                    params.MaxLevelP(),
		Scale:                     rlwe.NewScale(params.Q()[params.MaxLevel()]),
		LogDimensions:             cx.LogDimensions,
		LogBabyStepGiantStepRatio: 1,
	})
	check(lintrans.Encode(encoder, diagonals, transform))
	keys := rlwe.NewMemEvaluationKeySet(nil, keygen.GenGaloisKeysNew(transform.GaloisElements(params), sk)...)
	eval := lintrans.NewEvaluator(ckks.NewEvaluator(params, keys))
	out := ckks.NewCiphertext(params, 1, params.MaxLevel())
	values := make([]float64, slots)
	report(fmt.Sprintf("ckks-linear-%d", count), n, bits, func() { check(eval.Evaluate(cx, transform, out)) }, func() bool {
		check(encoder.Decode(decryptor.DecryptNew(out), values))
		for i := range values {
			want := 0.0
			for d := range count {
				want += weight(d, i) * x[(i+d)%slots]
			}
			if math.Abs(values[i]-want) > 1e-3 {
				return false
			}
		}
		return true
	})
}

// benchSum times eight rotations of one ciphertext, with one decomposition, added.
func benchSum(logN int, logQ, logP []int) {
	params := must(ckks.NewParametersFromLiteral(ckks.ParametersLiteral{LogN: logN, LogQ: logQ, LogP: logP, LogDefaultScale: 40}))
	keygen := rlwe.NewKeyGenerator(params)
	sk, pk := keygen.GenKeyPairNew()
	encoder, encryptor, decryptor := ckks.NewEncoder(params), rlwe.NewEncryptor(params, pk), rlwe.NewDecryptor(params, sk)
	n, bits := 1<<logN, append(append([]int{}, logQ...), logP...)
	slots := n / 2
	x := make([]float64, slots)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	px := ckks.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, px))
	cx := must(encryptor.EncryptNew(px))
	steps := []int{1, 2, 3, 4, 5, 6, 7, 8}
	keys := rlwe.NewMemEvaluationKeySet(nil, keygen.GenGaloisKeysNew(params.GaloisElements(steps), sk)...)
	eval := ckks.NewEvaluator(params, keys)
	var out *rlwe.Ciphertext
	values := make([]float64, slots)
	report("ckks-sum-of-8-rotations", n, bits, func() {
		rotated := must(eval.RotateHoistedNew(cx, steps))
		out = rotated[1]
		for _, k := range steps[1:] {
			check(eval.Add(out, rotated[k], out))
		}
	}, func() bool {
		check(encoder.Decode(decryptor.DecryptNew(out), values))
		for i := range values {
			want := 0.0
			for _, k := range steps {
				want += x[(i+k)%slots]
			}
			if math.Abs(values[i]-want) > 1e-3 {
				return false
			}
		}
		return true
	})
}

func chain(count, width int) (out []int) {
	for range count {
		out = append(out, width)
	}
	return out
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "memory" {
		memory(os.Args[2])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "kernels" {
		kernels()
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "bootstrap" {
		bootstrap(os.Args[2], must(strconv.Atoi(os.Args[3])))
		return
	}
	for logN := 12; logN <= 15; logN++ {
		for _, width := range []int{36, 45, 50, 60} {
			benchNTT(logN, width)
		}
	}
	benchBFV(12, []int{36, 36}, []int{37}, 65537)
	benchBFV(13, []int{43, 43, 44, 44}, []int{44}, 65537)
	benchBFV(12, chain(6, 30), []int{30}, 65537)
	benchBFV(12, chain(4, 45), []int{45}, 65537)
	benchCKKS(13, chain(3, 45), []int{45})
	benchCKKS(14, chain(7, 45), []int{45})
	for _, special := range []int{1, 2, 3} {
		benchSum(14, chain(7, 45), chain(special, 45))
		for _, count := range []int{128, 512} {
			benchLinear(14, chain(7, 45), chain(special, 45), count)
		}
	}
	benchCKKS(15, chain(14, 45), []int{45})
	benchCKKS(15, chain(12, 45), []int{45, 45, 45})
}

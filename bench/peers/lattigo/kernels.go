// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/lintrans"
	"github.com/tuneinsight/lattigo/v6/circuits/ckks/polynomial"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
	"github.com/tuneinsight/lattigo/v6/utils/bignum"
)

// kernel is what bench/beside_lattigo.py asks for on standard input. The matrix is square, its side a power of two.
type kernel struct {
	Kind         string      `json:"kind"` // scaled: x * (A @ x); twice: A @ (A @ x); polynomial: by Chebyshev coefficients
	LogN         int         `json:"log_n"`
	LogQ         []int       `json:"log_q"`
	LogP         []int       `json:"log_p"`
	LogScale     int         `json:"log_scale"`
	X            []float64   `json:"x"`
	Matrix       [][]float64 `json:"matrix"`
	Coefficients []float64   `json:"coefficients"`
	Repeats      int         `json:"repeats"`
}

type outcome struct {
	LeastMs float64   `json:"least_ms"`
	KeysMB  float64   `json:"keys_mb"`
	Keys    int       `json:"keys"`
	Result  []float64 `json:"result"`
}

// kernels evaluates one kernel as a user of Lattigo writes it, on one goroutine.
func kernels() {
	var k kernel
	check(json.NewDecoder(os.Stdin).Decode(&k))
	params := must(ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN: k.LogN, LogQ: k.LogQ, LogP: k.LogP, LogDefaultScale: k.LogScale,
	}))
	keygen := rlwe.NewKeyGenerator(params)
	sk, pk := keygen.GenKeyPairNew()
	encoder, encryptor, decryptor := ckks.NewEncoder(params), rlwe.NewEncryptor(params, pk), rlwe.NewDecryptor(params, sk)
	slots := params.MaxSlots()
	x := make([]float64, slots)
	for i := range x {
		x[i] = k.X[i%len(k.X)]
	}
	px := ckks.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, px))
	cx := must(encryptor.EncryptNew(px))

	var galois []uint64
	var transforms []lintrans.LinearTransformation
	stages := map[string]int{"scaled": 1, "twice": 2}[k.Kind]
	for stage := range stages {
		transform := diagonals(params, encoder, k.Matrix, params.MaxLevel()-stage, cx)
		transforms = append(transforms, transform)
		galois = append(galois, transform.GaloisElements(params)...)
	}
	galois = unique(galois)
	var relin *rlwe.RelinearizationKey
	if k.Kind != "twice" {
		relin = keygen.GenRelinearizationKeyNew(sk)
	}
	keys := rlwe.NewMemEvaluationKeySet(relin, keygen.GenGaloisKeysNew(galois, sk)...)
	eval := ckks.NewEvaluator(params, keys)
	linear := lintrans.NewEvaluator(eval)

	run := func() *rlwe.Ciphertext {
		out := cx
		for _, transform := range transforms {
			out = must(linear.EvaluateNew(out, transform))
			check(eval.Rescale(out, out))
		}
		if k.Kind == "scaled" {
			out = must(eval.MulRelinNew(out, cx))
			check(eval.Rescale(out, out))
		}
		return out
	}
	if k.Kind == "polynomial" {
		poly := bignum.NewPolynomial(bignum.Chebyshev, k.Coefficients, [2]float64{-1, 1})
		evaluator := polynomial.NewEvaluator(params, eval)
		run = func() *rlwe.Ciphertext { return must(evaluator.Evaluate(cx, poly, params.DefaultScale())) }
	}
	least := math.Inf(1)
	var out *rlwe.Ciphertext
	for range k.Repeats {
		start := time.Now()
		out = run()
		least = min(least, float64(time.Since(start).Nanoseconds())/1e6)
	}
	found := make([]float64, slots)
	check(encoder.Decode(decryptor.DecryptNew(out), found))
	count, bytes := len(galois), 0
	for _, element := range galois {
		bytes += must(keys.GetGaloisKey(element)).BinarySize()
	}
	if relin != nil {
		count, bytes = count+1, bytes+relin.BinarySize()
	}
	line := must(json.Marshal(outcome{least, float64(bytes) / 1e6, count, found[:len(k.X)]}))
	fmt.Println(string(line))
}

// diagonals encodes a matrix for a vector that repeats until the slots are full, by baby steps and giant steps.
func diagonals(params ckks.Parameters, encoder *ckks.Encoder, matrix [][]float64, level int, ct *rlwe.Ciphertext) lintrans.LinearTransformation {
	side, slots := len(matrix), params.MaxSlots()
	values := make(lintrans.Diagonals[float64])
	for d := range side {
		values[d] = make([]float64, slots)
		for i := range slots {
			values[d][i] = matrix[i%side][(i+d)%side]
		}
	}
	transform := lintrans.NewTransformation(params, lintrans.Parameters{
		DiagonalsIndexList:        values.DiagonalsIndexList(),
		LevelQ:                    level,
		LevelP:                    params.MaxLevelP(),
		Scale:                     rlwe.NewScale(params.Q()[level]),
		LogDimensions:             ct.LogDimensions,
		LogBabyStepGiantStepRatio: 1,
	})
	check(lintrans.Encode(encoder, values, transform))
	return transform
}

func unique(elements []uint64) (out []uint64) {
	seen := map[uint64]bool{1: true} // 1: no rotation
	for _, element := range elements {
		if !seen[element] {
			seen[element] = true
			out = append(out, element)
		}
	}
	return out
}

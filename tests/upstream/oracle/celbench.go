package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

// benchQuestion asks how long Kubernetes takes for expressions over devices, as the scheduler does it: stored
// expressions, no cost estimate, each compiled once.
type benchQuestion struct {
	header
	Expressions []string    `json:"exprs"`
	Devices     []celDevice `json:"devices"`
	// How often each device is evaluated and each expression compiled in one go, and how many goes there are.
	Rounds   int `json:"rounds"`
	Compiles int `json:"compiles"`
	Repeat   int `json:"repeat"`
}

// benchAnswer has the least of all goes, in nanoseconds.
type benchAnswer struct {
	PerEvaluation float64 `json:"perEvaluation"`
	PerCompile    float64 `json:"perCompile"`
	// How many of the devices match, and how many fail.
	Matches int `json:"matches"`
	Errors  int `json:"errors"`
}

func benchmark(line json.RawMessage) (any, error) {
	var question benchQuestion
	if err := read(line, &question); err != nil {
		return nil, err
	}
	devices := make([]cel.Device, len(question.Devices))
	for i, device := range question.Devices {
		devices[i] = device.input()
	}
	answers := make([]benchAnswer, len(question.Expressions))
	for i, expression := range question.Expressions {
		found, err := benchmarkOne(question, expression, devices)
		if err != nil {
			return nil, err
		}
		answers[i] = found
	}
	return map[string]any{"answers": answers}, nil
}

func benchmarkOne(question benchQuestion, expression string, devices []cel.Device) (benchAnswer, error) {
	stored := environment.StoredExpressions
	options := cel.Options{EnvType: &stored, DisableCostEstimation: true}
	compiler := cel.GetCompiler(celFeatures())
	compiled := compiler.CompileCELExpression(expression, options)
	if compiled.Error != nil {
		return benchAnswer{}, fmt.Errorf("%s: %s", expression, compiled.Error.Detail)
	}
	var found benchAnswer
	for _, device := range devices {
		matches, _, err := compiled.DeviceMatches(context.Background(), device)
		switch {
		case err != nil:
			found.Errors++
		case matches:
			found.Matches++
		}
	}
	for range question.Repeat {
		evaluation := timed(question.Rounds, func() {
			for _, device := range devices {
				_, _, _ = compiled.DeviceMatches(context.Background(), device)
			}
		})
		compilation := timed(question.Compiles, func() { compiler.CompileCELExpression(expression, options) })
		found.PerEvaluation = least(found.PerEvaluation, evaluation/float64(max(len(devices), 1)))
		found.PerCompile = least(found.PerCompile, compilation)
	}
	return found, nil
}

// timed answers the nanoseconds of one of n runs.
func timed(n int, run func()) float64 {
	started := time.Now()
	for range n {
		run()
	}
	return float64(time.Since(started).Nanoseconds()) / float64(max(n, 1))
}

// least is the smaller of two times; zero is none.
func least(known, other float64) float64 {
	if known == 0 {
		return other
	}
	return min(known, other)
}

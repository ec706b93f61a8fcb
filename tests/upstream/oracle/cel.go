package main

import (
	"context"
	"encoding/json"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/kubernetes/pkg/features"
)

type celQuestion struct {
	header
	Expression string    `json:"expr"`
	Device     celDevice `json:"device"`
	// "stored", as the scheduler reads an expression, or "new", as the API server does.
	Environment environment.Type `json:"env,omitempty"`
}

type celDevice struct {
	Driver                   string                                                  `json:"driver"`
	AllowMultipleAllocations *bool                                                   `json:"allowMultipleAllocations,omitempty"`
	Attributes               map[resourcev1.QualifiedName]resourcev1.DeviceAttribute `json:"attributes,omitempty"`
	Capacity                 map[resourcev1.QualifiedName]resourcev1.DeviceCapacity  `json:"capacity,omitempty"`
}

func (d celDevice) input() cel.Device {
	return cel.Device{
		Driver:                   d.Driver,
		AllowMultipleAllocations: d.AllowMultipleAllocations,
		Attributes:               d.Attributes,
		Capacity:                 d.Capacity,
	}
}

// celAnswer has the form of `drakit cel --jsonl`.
type celAnswer struct {
	// true, false, compile_error or runtime_error.
	Verdict    string `json:"verdict"`
	Message    string `json:"message,omitempty"`
	OutputType string `json:"output_type,omitempty"`
	MaxCost    uint64 `json:"max_cost,omitempty"`
	// What the evaluation did cost; absent where there was none, or where it failed before it was counted.
	Cost *uint64 `json:"cost,omitempty"`
}

func evaluate(line json.RawMessage) (any, error) {
	var question celQuestion
	if err := read(line, &question); err != nil {
		return nil, err
	}
	switch question.Environment {
	case "":
		question.Environment = environment.StoredExpressions
	case "new":
		question.Environment = environment.NewExpressions
	case "stored":
		question.Environment = environment.StoredExpressions
	default:
		return nil, fmt.Errorf(`env is "stored" or "new", not %q`, question.Environment)
	}
	compiled := cel.GetCompiler(celFeatures()).CompileCELExpression(question.Expression, cel.Options{EnvType: &question.Environment})
	if compiled.Error != nil {
		return celAnswer{Verdict: "compile_error", Message: compiled.Error.Detail}, nil
	}
	found := celAnswer{OutputType: compiled.OutputType.String(), MaxCost: compiled.MaxCost}
	matches, details, err := compiled.DeviceMatches(context.Background(), question.Device.input())
	if details != nil {
		found.Cost = details.ActualCost()
	}
	if err != nil {
		found.Verdict = "runtime_error"
		found.Message = cel.EnhanceRuntimeError(err).Error()
		return found, nil
	}
	found.Verdict = fmt.Sprint(matches)
	return found, nil
}

func celFeatures() cel.Features {
	return cel.Features{
		EnableConsumableCapacity: utilfeature.DefaultFeatureGate.Enabled(features.DRAConsumableCapacity),
		EnableListTypeAttributes: utilfeature.DefaultFeatureGate.Enabled(features.DRAListTypeAttributes),
	}
}

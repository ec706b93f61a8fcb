package main

import (
	"encoding/json"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/resource"
)

// pair is one text, and perhaps a second one to compare it with.
type pair struct {
	header
	Text string  `json:"text"`
	With *string `json:"with,omitempty"`
}

type quantityAnswer struct {
	Error string `json:"error,omitempty"`
	// The canonical notation.
	Canonical string `json:"canonical,omitempty"`
	Format    string `json:"format,omitempty"`
	// Rounded up to an integer, and to thousandths, as the allocator and the scheduler read quantities.
	Value      int64 `json:"value"`
	MilliValue int64 `json:"milliValue"`
	// The second one, where there is one and both can be read: -1, 0 or 1, and the canonical notations of sum and difference.
	Compare *int   `json:"compare,omitempty"`
	Sum     string `json:"sum,omitempty"`
	// First minus second.
	Difference string `json:"difference,omitempty"`
}

func readQuantity(line json.RawMessage) (any, error) {
	var question pair
	if err := read(line, &question); err != nil {
		return nil, err
	}
	first, err := resource.ParseQuantity(question.Text)
	if err != nil {
		return quantityAnswer{Error: err.Error()}, nil
	}
	found := quantityAnswer{Value: first.Value(), MilliValue: first.MilliValue(), Format: string(first.Format)}
	if question.With != nil {
		second, err := resource.ParseQuantity(*question.With)
		if err != nil {
			return quantityAnswer{Error: err.Error()}, nil
		}
		compare := first.Cmp(second)
		sum, difference := first.DeepCopy(), first.DeepCopy()
		sum.Add(second)
		difference.Sub(second)
		found.Compare, found.Sum, found.Difference = &compare, canonical(sum), canonical(difference)
	}
	found.Canonical = canonical(first)
	return found, nil
}

// canonical forgets how a quantity was written, which String would repeat.
func canonical(q resource.Quantity) string {
	number, suffix := q.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

type versionAnswer struct {
	Error     string `json:"error,omitempty"`
	Canonical string `json:"canonical,omitempty"`
	Compare   *int   `json:"compare,omitempty"`
}

func readVersion(line json.RawMessage) (any, error) {
	var question pair
	if err := read(line, &question); err != nil {
		return nil, err
	}
	first, err := semver.Parse(question.Text)
	if err != nil {
		return versionAnswer{Error: err.Error()}, nil
	}
	found := versionAnswer{Canonical: first.String()}
	if question.With != nil {
		second, err := semver.Parse(*question.With)
		if err != nil {
			return versionAnswer{Error: err.Error()}, nil
		}
		compare := first.Compare(second)
		found.Compare = &compare
	}
	return found, nil
}

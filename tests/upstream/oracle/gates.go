package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	componentversion "k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/features"
)

// setup is the part of Kubernetes that answers.
type setup struct {
	Gates   json.RawMessage `json:"gates,omitempty"`
	Release string          `json:"release,omitempty"`
}

// The gates that gates of DRA depend on, and that do nothing to an answer by themselves.
var alongside = []featuregate.Feature{features.NodeDeclaredFeatures, features.GenericWorkload}

// applied is the setup in force: gates are global in Kubernetes, and changing them is slow.
var applied *string

func (s setup) apply() error {
	key := s.Release + string(s.Gates)
	if applied != nil && *applied == key {
		return nil
	}
	applied = nil
	gate := utilfeature.DefaultMutableFeatureGate
	for name := range gate.GetAll() {
		if gate.ExplicitlySet(name) {
			if err := gate.ResetFeatureValueToDefault(name); err != nil {
				return err
			}
		}
	}
	emulated := version.MustParse(componentversion.DefaultKubeBinaryVersion)
	if s.Release != "" {
		parsed, err := version.ParseMajorMinor(s.Release)
		if err != nil {
			return fmt.Errorf("release: %w", err)
		}
		if parsed.GreaterThan(emulated) {
			return fmt.Errorf("release %s is newer than this %s", s.Release, emulated)
		}
		emulated = parsed
	}
	// As a control plane does that was told nothing else: it could be rolled back by one release.
	if err := gate.SetEmulationVersionAndMinCompatibilityVersion(emulated, emulated.OffsetMinor(-1)); err != nil {
		return err
	}
	wanted, err := s.wanted()
	if err != nil {
		return err
	}
	// A gate that cannot be set would be remembered, and refused again with every other question.
	for name, on := range wanted {
		spec, known := gate.GetAll()[featuregate.Feature(name)]
		if !known {
			return fmt.Errorf("no such feature gate in %s: %s", emulated, name)
		}
		if spec.LockToDefault && spec.Default != on {
			return fmt.Errorf("feature gate %s is locked to %t in %s", name, spec.Default, emulated)
		}
	}
	if err := gate.SetFromMap(wanted); err != nil {
		return err
	}
	if errs := gate.Validate(); len(errs) > 0 {
		return errs[0]
	}
	applied = &key
	return nil
}

// wanted says which gates differ from their defaults.
func (s setup) wanted() (map[string]bool, error) {
	var word string
	if len(s.Gates) == 0 || string(s.Gates) == "null" {
		word = "all"
	} else if s.Gates[0] == '"' {
		if err := json.Unmarshal(s.Gates, &word); err != nil {
			return nil, err
		}
	} else {
		var chosen map[string]bool
		err := json.Unmarshal(s.Gates, &chosen)
		return chosen, err
	}
	switch word {
	case "all":
		return everyGate(), nil
	case "default":
		return nil, nil
	}
	return nil, fmt.Errorf(`gates are "all", "default" or a map, not %q`, word)
}

func everyGate() map[string]bool {
	wanted := map[string]bool{}
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if ofDRA(name) && !spec.LockToDefault {
			wanted[string(name)] = true
		}
	}
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	for _, name := range alongside {
		if _, ok := known[name]; ok {
			wanted[string(name)] = true
		}
	}
	return wanted
}

func ofDRA(name featuregate.Feature) bool {
	return strings.HasPrefix(string(name), "DRA") || strings.HasPrefix(string(name), "DynamicResource")
}

// about says which Kubernetes answers, and what its gates are under the setup of the question.
func about(json.RawMessage) (any, error) {
	gates := map[string]bool{}
	for name := range maps.Keys(utilfeature.DefaultMutableFeatureGate.GetAll()) {
		if ofDRA(name) {
			gates[string(name)] = utilfeature.DefaultFeatureGate.Enabled(name)
		}
	}
	return map[string]any{"version": componentversion.Get().GitVersion, "gates": gates}, nil
}

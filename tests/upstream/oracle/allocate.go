package main

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	resourcedefaults "k8s.io/kubernetes/pkg/apis/resource/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

// filterTimeout is what the scheduler gives a node; see defaultFilterTimeout of its dynamicresources plugin.
const filterTimeout = 10.0

// cacheSize is that of the scheduler's plugin.
const cacheSize = 10

type allocateQuestion struct {
	header
	Node      *corev1.Node                `json:"node,omitempty"`
	Nodes     []*corev1.Node              `json:"nodes,omitempty"`
	Slices    []*resourcev1.ResourceSlice `json:"slices"`
	Classes   []*resourcev1.DeviceClass   `json:"classes"`
	Claims    []*resourcev1.ResourceClaim `json:"claims"`
	Allocated allocated                   `json:"allocated"`
	// Seconds for each node; the scheduler's where it is zero.
	Timeout float64 `json:"timeout,omitempty"`
}

// allocated is what other claims hold.
type allocated struct {
	Devices  []taken `json:"devices,omitempty"`
	Shared   []taken `json:"shared,omitempty"`
	Capacity []taken `json:"capacity,omitempty"`
}

type taken struct {
	Driver   string                                         `json:"driver"`
	Pool     string                                         `json:"pool"`
	Device   string                                         `json:"device"`
	ShareID  *types.UID                                     `json:"shareID,omitempty"`
	Consumed map[resourcev1.QualifiedName]resource.Quantity `json:"consumed,omitempty"`
}

// onNode is the answer for one node: results, or neither results nor an error where the claims do not fit.
type onNode struct {
	Node    string                        `json:"node"`
	Results []resourcev1.AllocationResult `json:"results"`
	Error   string                        `json:"error,omitempty"`
	// The error is about this node only: the scheduler looks at the others.
	Local       bool  `json:"local,omitempty"`
	TimedOut    bool  `json:"timedOut,omitempty"`
	Nanoseconds int64 `json:"nanoseconds"`
	// How often the search looked for a device; -1 where the allocator does not count.
	Steps int64 `json:"steps"`
}

var celCaches = map[cel.Features]*cel.Cache{}

// allocate does what the scheduler's plugin does for the claims of one pod, node by node.
func allocate(line json.RawMessage) (any, error) {
	var question allocateQuestion
	if err := read(line, &question); err != nil {
		return nil, err
	}
	question.fillIn()
	scheduler := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	features := dynamicresources.AllocatorFeatures(scheduler)
	celFeatures := cel.Features{EnableConsumableCapacity: features.ConsumableCapacity, EnableListTypeAttributes: features.ListTypeAttributes}
	if celCaches[celFeatures] == nil {
		celCaches[celFeatures] = cel.NewCache(cacheSize, celFeatures)
	}
	allocator, err := structured.NewAllocator(context.Background(), features, question.Allocated.state(),
		classes(question.Classes), question.Slices, celCaches[celFeatures])
	if err != nil {
		return nil, err
	}
	answers := make([]onNode, 0, len(question.Nodes))
	for _, node := range question.Nodes {
		answers = append(answers, question.on(allocator, node))
	}
	return map[string]any{"nodes": answers}, nil
}

// fillIn sets what the API server would have set when the objects were created.
func (q *allocateQuestion) fillIn() {
	if q.Node != nil {
		q.Nodes = append([]*corev1.Node{q.Node}, q.Nodes...)
	}
	for _, slice := range q.Slices {
		resourcedefaults.SetObjectDefaults_ResourceSlice(slice)
	}
	for _, claim := range q.Claims {
		resourcedefaults.SetObjectDefaults_ResourceClaim(claim)
	}
	if q.Timeout == 0 {
		q.Timeout = filterTimeout
	}
}

func (q *allocateQuestion) on(allocator structured.Allocator, node *corev1.Node) onNode {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(q.Timeout*float64(time.Second)))
	defer cancel()
	before := steps(allocator)
	start := time.Now()
	results, err := allocator.Allocate(ctx, node, q.Claims)
	found := onNode{Node: node.Name, Results: results, Nanoseconds: time.Since(start).Nanoseconds(), Steps: -1}
	if after := steps(allocator); after >= 0 {
		found.Steps = after - before
	}
	if err != nil {
		found.Error = err.Error()
		found.Local = errors.Is(err, structured.ErrFailedAllocationOnNode)
		found.TimedOut = errors.Is(err, context.DeadlineExceeded)
	}
	return found
}

// steps reads a counter that only the tests inside Kubernetes can name.
func steps(allocator structured.Allocator) int64 {
	method := reflect.ValueOf(allocator).MethodByName("GetStats")
	if !method.IsValid() {
		return -1
	}
	return method.Call(nil)[0].FieldByName("NumAllocateOneInvocations").Int()
}

func (a allocated) state() structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, device := range a.Devices {
		state.AllocatedDevices.Insert(device.id())
	}
	for _, share := range a.Shared {
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(share.id(), share.ShareID))
	}
	for _, share := range a.Capacity {
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(share.id(), share.Consumed))
	}
	return state
}

func (t taken) id() structured.DeviceID {
	return structured.MakeDeviceID(t.Driver, t.Pool, t.Device)
}

// classes is a lister as the scheduler's informer cache is one.
type classes []*resourcev1.DeviceClass

func (c classes) List() ([]*resourcev1.DeviceClass, error) {
	return c, nil
}

func (c classes) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclass"), name)
}

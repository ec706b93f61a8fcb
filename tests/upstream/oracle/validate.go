package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
)

type validateQuestion struct {
	header
	Object json.RawMessage `json:"object"`
	// What is stored already: the object is then an update of it.
	Old json.RawMessage `json:"old,omitempty"`
	// "status" where the update goes to that subresource.
	Subresource string `json:"subresource,omitempty"`
	// Unknown fields are dropped with a warning, as `kubectl --validate=warn` asks for.
	Lenient bool `json:"lenient,omitempty"`
	// Labels of the object's namespace, which admin access depends on.
	NamespaceLabels map[string]string `json:"namespaceLabels,omitempty"`
}

type validateAnswer struct {
	// The HTTP status of the API server's answer: 201 and 200, 400 where the object cannot be read, 422 where it is invalid.
	Status   int32        `json:"status"`
	Message  string       `json:"message,omitempty"`
	Errors   []fieldError `json:"errors,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	// The object as it is stored, in the version it came in, without what differs from one request to the next.
	Stored map[string]any `json:"stored,omitempty"`
}

type fieldError struct {
	Path    string `json:"path"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// strategy is how the API server treats objects of one kind.
type strategy struct {
	resource string
	create   rest.RESTCreateStrategy
	update   rest.RESTUpdateStrategy
	status   rest.RESTUpdateStrategy
}

func strategies(namespace *namespaces) map[string]strategy {
	claim := resourceclaim.NewStrategy(namespace, everybodyMay{})
	template := resourceclaimtemplate.NewStrategy(namespace)
	return map[string]strategy{
		"DeviceClass":           {"deviceclasses", deviceclass.Strategy, deviceclass.Strategy, nil},
		"DeviceTaintRule":       {"devicetaintrules", devicetaintrule.Strategy, devicetaintrule.Strategy, devicetaintrule.StatusStrategy},
		"ResourceClaim":         {"resourceclaims", claim, claim, resourceclaim.NewStatusStrategy(claim)},
		"ResourceClaimTemplate": {"resourceclaimtemplates", template, template, nil},
		"ResourceSlice":         {"resourceslices", resourceslice.Strategy, resourceslice.Strategy, nil},
	}
}

// validate does what the API server does between reading a request and writing to its store.
func validate(line json.RawMessage) (any, error) {
	var question validateQuestion
	if err := read(line, &question); err != nil {
		return nil, err
	}
	object, kind, complaints, err := question.decode(question.Object)
	if err != nil {
		return refusal(err, nil)
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	rules, ok := strategies(&namespaces{labels: question.NamespaceLabels})[kind.Kind]
	if !ok {
		return nil, fmt.Errorf("objects of kind %s cannot be asked about", kind.Kind)
	}
	if rules.create.NamespaceScoped() && accessor.GetNamespace() == "" {
		accessor.SetNamespace(metav1.NamespaceDefault)
	}
	recorder := &warnings{}
	for _, complaint := range complaints {
		recorder.AddWarning("", complaint.Error())
	}
	ctx := question.context(kind, rules, accessor, recorder)
	status := int32(http.StatusCreated)
	if len(question.Old) > 0 {
		status = http.StatusOK
		err = question.update(ctx, rules, object)
	} else {
		rest.WipeObjectMetaSystemFields(accessor)
		rest.FillObjectMetaSystemFields(accessor)
		err = rest.BeforeCreate(rules.create, ctx, object)
	}
	if err != nil {
		return refusal(err, recorder.texts)
	}
	stored, err := encode(object, kind.GroupVersion())
	return validateAnswer{Status: status, Warnings: recorder.texts, Stored: stored}, err
}

func (q *validateQuestion) update(ctx context.Context, rules strategy, object runtime.Object) error {
	old, _, _, err := q.decode(q.Old)
	if err != nil {
		return fmt.Errorf("the old object: %w", err)
	}
	accessor, err := meta.Accessor(old)
	if err != nil {
		return err
	}
	if rules.create.NamespaceScoped() && accessor.GetNamespace() == "" {
		accessor.SetNamespace(metav1.NamespaceDefault)
	}
	// What the store would have given it.
	if accessor.GetUID() == "" {
		rest.FillObjectMetaSystemFields(accessor)
	}
	if accessor.GetResourceVersion() == "" {
		accessor.SetResourceVersion("1")
	}
	updated, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	if updated.GetResourceVersion() == "" {
		updated.SetResourceVersion(accessor.GetResourceVersion())
	}
	chosen := rules.update
	if q.Subresource == "status" {
		chosen = rules.status
	}
	if chosen == nil {
		return fmt.Errorf("no subresource %q", q.Subresource)
	}
	return rest.BeforeUpdate(chosen, ctx, object, old)
}

func (q *validateQuestion) context(kind schema.GroupVersionKind, rules strategy, object metav1.Object, recorder *warnings) context.Context {
	verb := "create"
	if len(q.Old) > 0 {
		verb = "update"
	}
	ctx := request.WithNamespace(context.Background(), object.GetNamespace())
	ctx = request.WithUser(ctx, &user.DefaultInfo{Name: "oracle"})
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true,
		Verb:              verb,
		APIPrefix:         "apis",
		APIGroup:          kind.Group,
		APIVersion:        kind.Version,
		Namespace:         object.GetNamespace(),
		Resource:          rules.resource,
		Subresource:       q.Subresource,
		Name:              object.GetName(),
	})
	return warning.WithWarningRecorder(ctx, recorder)
}

// decode reads an object with the defaults of its version; of one that is read leniently, it also says what is wrong.
func (q *validateQuestion) decode(body json.RawMessage) (runtime.Object, schema.GroupVersionKind, []error, error) {
	info, _ := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	decoder := legacyscheme.Codecs.DecoderToVersion(info.StrictSerializer, resource.SchemeGroupVersion)
	object, kind, err := decoder.Decode(body, nil, nil)
	if strict, ok := runtime.AsStrictDecodingError(err); ok && object != nil && q.Lenient {
		return object, *kind, strict.Errors(), nil
	}
	if err != nil {
		name := "object"
		version := ""
		if kind != nil {
			name, version = kind.Kind, kind.Version
		}
		err = apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", name, version, name, err))
		return nil, schema.GroupVersionKind{}, nil, err
	}
	return object, *kind, nil, nil
}

func encode(object runtime.Object, version schema.GroupVersion) (map[string]any, error) {
	info, _ := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	body, err := runtime.Encode(legacyscheme.Codecs.EncoderForVersion(info.Serializer, version), object)
	if err != nil {
		return nil, err
	}
	var stored map[string]any
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, err
	}
	if metadata, ok := stored["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "creationTimestamp", "resourceVersion"} {
			delete(metadata, name)
		}
	}
	return stored, nil
}

func refusal(err error, warned []string) (any, error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil, err
	}
	said := status.Status()
	found := validateAnswer{Status: said.Code, Message: said.Message, Warnings: warned}
	if said.Details != nil {
		for _, cause := range said.Details.Causes {
			found.Errors = append(found.Errors, fieldError{cause.Field, string(cause.Type), cause.Message})
		}
	}
	return found, nil
}

type warnings struct {
	texts []string
}

func (w *warnings) AddWarning(_, text string) {
	w.texts = append(w.texts, text)
}

// namespaces are read by nobody but the check for admin access, and that gets one.
type namespaces struct {
	typedcorev1.NamespaceInterface
	labels map[string]string
}

func (n *namespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: n.labels}}, nil
}

type everybodyMay struct{}

func (everybodyMay) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

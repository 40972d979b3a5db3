package kube

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// custom is a kind of custom resources without a namespace, at its path of the API.
type custom struct {
	client kubernetes.Interface
	path   string
}

// List implements kindClient.
func (c custom) List(ctx context.Context, opts metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	text, err := c.client.CoreV1().RESTClient().Get().AbsPath(c.path).VersionedParams(&opts, scheme.ParameterCodec).
		SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	list := new(unstructured.UnstructuredList)
	return list, list.UnmarshalJSON(text)
}

// Watch implements kindClient.
func (c custom) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	body, err := c.client.CoreV1().RESTClient().Get().AbsPath(c.path).VersionedParams(&opts, scheme.ParameterCodec).
		SetHeader("Accept", runtime.ContentTypeJSON).Stream(ctx)
	if err != nil {
		return nil, err
	}
	return watch.NewStreamWatcher(&customEvents{body, json.NewDecoder(body)}, apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")), nil
}

// write sends an object, to its own path where name is set. It is never repeated by the client's library.
func (c custom) write(ctx context.Context, verb, name string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	body, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	r := c.client.CoreV1().RESTClient().Verb(verb).MaxRetries(0).SetHeader("Accept", runtime.ContentTypeJSON).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body)
	if name == "" {
		r = r.AbsPath(c.path)
	} else {
		r = r.AbsPath(c.path, name)
	}
	text, err := r.Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	now := new(unstructured.Unstructured)
	return now, now.UnmarshalJSON(text)
}

// get is an object as it is.
func (c custom) get(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	text, err := c.client.CoreV1().RESTClient().Get().AbsPath(c.path, name).SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	now := new(unstructured.Unstructured)
	return now, now.UnmarshalJSON(text)
}

// remove deletes an object of that UID and version.
func (c custom) remove(ctx context.Context, name, uid, version string) error {
	body, err := json.Marshal(metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: (*types.UID)(&uid), ResourceVersion: &version}})
	if err != nil {
		return err
	}
	return c.client.CoreV1().RESTClient().Delete().AbsPath(c.path, name).MaxRetries(0).SetHeader("Accept", runtime.ContentTypeJSON).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Error()
}

// customEvents is a watch's answer.
type customEvents struct {
	body io.Closer
	*json.Decoder
}

// Decode implements watch.Decoder.
func (e *customEvents) Decode() (watch.EventType, runtime.Object, error) {
	var ev struct {
		Type   watch.EventType            `json:"type"`
		Object *unstructured.Unstructured `json:"object"`
	}
	if err := e.Decoder.Decode(&ev); err != nil {
		return "", nil, err
	}
	return ev.Type, ev.Object, nil
}

// Close implements watch.Decoder.
func (e *customEvents) Close() { _ = e.body.Close() } // nobody wants the rest

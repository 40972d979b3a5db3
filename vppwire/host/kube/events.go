package kube

import (
	"context"
	"log/slog"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// events records Kubernetes events; what the server does not take is lost.
type events struct {
	broadcaster record.EventBroadcaster
	recorder    record.EventRecorder
	log         *slog.Logger
}

func newEvents(ctx context.Context, client kubernetes.Interface, source v1.EventSource, log *slog.Logger) *events {
	b := record.NewBroadcaster(record.WithContext(ctx))
	b.StartRecordingToSink(eventSink{ctx, client.CoreV1().Events("")})
	return &events{b, b.NewRecorder(scheme.Scheme, source), log}
}

func (e *events) stop() { e.broadcaster.Shutdown() }

// EventsIn returns what records events about a namespace, in it, until ctx ends. It does not block; what the server does
// not take is lost.
func (c *Connection) EventsIn(ctx context.Context, namespace string) func(warning bool, reason, message string) {
	e := newEvents(logged(ctx, c.log), c.client, v1.EventSource{Component: "vppdrill-audit"}, c.log)
	context.AfterFunc(ctx, e.stop)
	about := &v1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: namespace, Namespace: namespace, UID: types.UID(namespace)}
	return func(warning bool, reason, message string) {
		kind := v1.EventTypeNormal
		if warning {
			kind = v1.EventTypeWarning
		}
		e.recorder.Event(about, kind, reason, message)
	}
}

// record records an event about a node. What has no UID is no node but a range, which no object of the API stands for.
func (e *events) record(r nodeipam.RecordEvent) {
	e.log.Info("event", "name", r.Name, "reason", r.Reason, "message", r.Message)
	if r.UID == "" {
		return
	}
	e.recorder.Event(&v1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: r.Name, UID: types.UID(r.UID)}, r.Type, r.Reason, r.Message)
}

// eventSink is record.EventSink with requests that end when the driver does.
type eventSink struct {
	ctx    context.Context
	events typedv1.EventInterface
}

func (s eventSink) Create(ev *v1.Event) (*v1.Event, error) {
	return s.events.CreateWithEventNamespaceWithContext(s.ctx, ev)
}

func (s eventSink) Update(ev *v1.Event) (*v1.Event, error) {
	return s.events.UpdateWithEventNamespaceWithContext(s.ctx, ev)
}

func (s eventSink) Patch(ev *v1.Event, data []byte) (*v1.Event, error) {
	return s.events.PatchWithEventNamespaceWithContext(s.ctx, ev, data)
}

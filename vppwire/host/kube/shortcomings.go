package kube

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// shortcoming is what an object asks for and agents do not do: the reason and the message of an event.
type shortcoming struct{ reason, message string }

// shortcomings tells the users of a cluster what their objects ask for without effect: in the agent's log, and as an
// event about the object. All agents say the same, so that the event's name follows from what it says: the first one
// creates it, for the others it is there.
type shortcomings struct {
	client  kubernetes.Interface
	node    string
	timeout time.Duration
	log     *slog.Logger
	wake    chan struct{}

	mu sync.Mutex
	// told is what was said of each object last; due are events that are not created yet.
	told map[types.UID]string
	due  []*v1.Event
}

func newShortcomings(cfg FactsConfig) *shortcomings {
	return &shortcomings{client: cfg.Client, node: cfg.Node, timeout: cfg.RequestTimeout, log: cfg.Log, wake: make(chan struct{}, 1), told: map[types.UID]string{}}
}

// about refers to an object.
func about(version, kind string, o metav1.Object) v1.ObjectReference {
	return v1.ObjectReference{APIVersion: version, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()}
}

// tell takes all that an object asks for in vain, nothing for one that is gone. What was told of it before is not told
// again.
func (s *shortcomings) tell(of v1.ObjectReference, list []shortcoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := fmt.Sprint(list); len(list) == 0 {
		delete(s.told, of.UID)
	} else if s.told[of.UID] != text {
		s.told[of.UID] = text
		for _, c := range list {
			s.log.Warn(c.message, "kind", of.Kind, "namespace", of.Namespace, "name", of.Name)
			s.due = append(s.due, s.event(of, c))
		}
		signal(s.wake)
	}
}

// event is named as Kubernetes names events: by its object, and by what tells it from others about that.
func (s *shortcomings) event(of v1.ObjectReference, c shortcoming) *v1.Event {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, of.UID, c) // a hash takes everything
	name, now := of.Name[:min(len(of.Name), 200)], metav1.Now()
	return &v1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: fmt.Sprintf("%s.%016x", name, h.Sum64())}, InvolvedObject: of,
		Type: v1.EventTypeWarning, Reason: c.reason, Message: c.message, Source: v1.EventSource{Component: "vppdrill-agent", Host: s.node},
		FirstTimestamp: now, LastTimestamp: now, Count: 1}
}

// run creates the events, as long as this agent is one that speaks, until ctx ends. What the server does not take is
// lost.
func (s *shortcomings) run(ctx context.Context, speaks func() bool) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		s.mu.Lock()
		due := s.due
		s.due = nil
		s.mu.Unlock()
		for _, ev := range due {
			if !speaks() {
				break
			}
			limited, cancel := context.WithTimeout(ctx, s.timeout)
			_, err := s.client.CoreV1().Events(ev.Namespace).Create(limited, ev, metav1.CreateOptions{})
			cancel()
			if err != nil && !apierrors.IsAlreadyExists(err) {
				s.log.Debug("an event was not taken", "name", ev.Name, "error", err)
			}
		}
	}
}

// speakers is how many agents create the same event: more than one, as one may be away, and few, as there are clusters
// of thousands.
const speakers = 3

// speaks reports whether this agent's node is among the first of the cluster, by name.
func (f *Facts) speaks() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := 0
	for name := range f.told {
		if name < f.cfg.Node {
			before++
		}
	}
	return before < speakers
}

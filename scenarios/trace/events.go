package trace

import (
	"errors"
	"fmt"
	"io"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
	"github.com/vppdrill/vppdrill/scenarios"
)

// readEvents reads a list of events, as kubectl get events -A -o json prints it. Errors are *scenarios.InputError.
func (h *history) readEvents(r io.Reader, file string) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	before := h.records
	if err := readObjects(file, data, h.event); err != nil {
		return err
	}
	if h.records == before {
		return &scenarios.InputError{File: file, Line: 1, Column: 1, Message: "the list has no Event; give what kubectl get events -A -o json prints"}
	}
	return nil
}

// readObjects gives take what kubectl prints, and makes the error one of a scenario's input.
func readObjects(file string, data []byte, take func(kubectl.Object) error) error {
	err := kubectl.Read(file, data, take)
	if bad := (*kubectl.Error)(nil); errors.As(err, &bad) {
		return &scenarios.InputError{File: file, Line: bad.Line, Column: bad.Column, Message: bad.Message}
	}
	if err != nil {
		return &scenarios.InputError{File: file, Line: 1, Column: 1, Message: err.Error()}
	}
	return nil
}

// eventDeeds are what events of schedulers, kubelets and controllers say of a pod, by their reasons.
var eventDeeds = map[string]deed{"Scheduled": placed, "Killing": deleted, "Evicted": deleted, "Preempted": deleted, "TaintManagerEviction": deleted}

// event takes an object of the list.
func (h *history) event(o kubectl.Object) error {
	if o.Kind != "Event" {
		return fmt.Errorf("%s %s is no Event; give what kubectl get events -A -o json prints", o.Kind, o.Metadata.Name)
	}
	e := o.Event()
	if e.Last.IsZero() {
		return fmt.Errorf("the Event %s has no time", o.Metadata.Name)
	}
	h.record(e.First)
	h.records--
	h.record(e.Last)
	if e.Kind != "Pod" {
		h.drop("as they are not about pods")
		return nil
	}
	at := e.Last
	what, known := eventDeeds[e.Reason]
	if what == placed {
		at = e.First
	}
	if !known {
		h.drop("as they tell nothing of pods' beginnings and ends")
	}
	h.sightings = append(h.sightings, sighting{at: at, pod: podKey{e.Namespace, e.Name}, deed: what})
	return nil
}

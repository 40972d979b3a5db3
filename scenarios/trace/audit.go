package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// auditEvent is what an API server writes of a request, of audit.k8s.io/v1: one JSON object each line.
type auditEvent struct {
	Kind, Stage, Verb string
	RequestURI        string
	ObjectRef         struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus    struct{ Code int }
	// Received is when the request came, Staged when this stage of it was over.
	Received time.Time `json:"requestReceivedTimestamp"`
	Staged   time.Time `json:"stageTimestamp"`
	// Request and Response are there at the levels of these names.
	Request  json.RawMessage `json:"requestObject"`
	Response json.RawMessage `json:"responseObject"`
}

// auditStage is that of the records that count: each request has others before.
const auditStage = "ResponseComplete"

// auditEvent takes an event of the log.
func (h *history) auditEvent(text []byte) error {
	var e auditEvent
	if err := json.Unmarshal(text, &e); err != nil {
		return wantAudit(err)
	}
	switch {
	case e.Kind != "Event":
		return fmt.Errorf("%q is no event of an audit log (audit.k8s.io/v1)", e.Kind)
	case e.Stage != auditStage:
		h.otherStages++
		return nil
	case e.Received.IsZero() && e.Staged.IsZero():
		return errors.New("the event has no time (requestReceivedTimestamp, stageTimestamp)")
	}
	at := e.Received
	if at.IsZero() {
		at = e.Staged
	}
	h.record(at)
	if why := h.audit(e, at); why != "" {
		h.drop(why)
	}
	return nil
}

// audit takes a request; why says for what reason it tells nothing.
func (h *history) audit(e auditEvent, at time.Time) (why string) {
	ref := e.ObjectRef
	switch {
	case ref.Resource != "pods":
		return "as they are not about pods"
	case strings.Contains(e.RequestURI, "dryRun=All"):
		return "as they were dry runs"
	case e.ResponseStatus.Code >= 300:
		return "as the server refused what they asked for"
	}
	var object struct {
		kubectl.Object
		Items []kubectl.Object
	}
	parts := []json.RawMessage{e.Request, e.Response}
	if ref.Subresource == "eviction" {
		parts = nil // an Eviction, and a Status
	}
	for _, part := range parts { // what the server answered counts
		if err := kubectl.Decode(part, &object); err != nil {
			return "as their objects are none that this reads"
		}
	}
	s := sighting{at: at, pod: podKey{ref.Namespace, ref.Name}, deed: seen}
	if s.pod.name == "" {
		s.pod.name = object.Metadata.Name
	}
	if len(object.Metadata.Owners) > 0 {
		s.app = app(object.Metadata)
	}
	if pod, err := object.Pod(); err == nil {
		s.hostNetwork = pod.HostNetwork
		if pod.Over && ref.Subresource == "status" {
			s.deed = deleted // its sandbox goes with its containers
		}
	}
	switch e.Verb + " " + ref.Subresource {
	case "create ":
		s.deed = created
	case "create binding":
		s.deed = placed
	case "delete ", "create eviction": // an eviction that is granted begins the pod's end; a deletion after it counts
		s.deed = deleted
	case "deletecollection ":
		for _, o := range object.Items {
			h.sightings = append(h.sightings, sighting{at: at, pod: podKey{ref.Namespace, o.Metadata.Name}, deed: deleted})
		}
		if len(object.Items) == 0 {
			return "as they delete collections without saying which pods (level Metadata)"
		}
		return ""
	case "patch status", "update status":
	default:
		return "as they neither create, place nor delete pods"
	}
	if s.pod.name == "" {
		return "as they create pods whose names are generated and not told (level Metadata); such pods begin when they are bound"
	}
	h.sightings = append(h.sightings, s)
	return ""
}

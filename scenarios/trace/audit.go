package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
	"github.com/vppdrill/vppdrill/scenarios"
)

// auditEvent is what an API server writes of a request, of audit.k8s.io/v1: one JSON object each line.
type auditEvent struct {
	Kind, Stage, Verb string
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

// auditLineMost bounds a line: a list of 5,000 pods at level RequestResponse takes some 50 MB.
const auditLineMost = 256 << 20

// readAudit reads an audit log. Errors are *scenarios.InputError with the line.
func (h *history) readAudit(r io.Reader, file string) error {
	lines := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		switch {
		case err != nil && !last:
			return fmt.Errorf("read %s: %w", file, err)
		case len(text) > auditLineMost:
			return &scenarios.InputError{File: file, Line: n, Column: 1, Message: "the line is too long for an event of an audit log"}
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if err := h.auditLine(text); err != nil {
				return &scenarios.InputError{File: file, Line: n, Column: 1, Message: err.Error()}
			}
		}
		if last {
			break
		}
	}
	if h.records == 0 {
		return &scenarios.InputError{File: file, Line: 1, Column: 1, Message: "the audit log has no event"}
	}
	return nil
}

// auditLine takes one line.
func (h *history) auditLine(text []byte) error {
	var e auditEvent
	if err := json.Unmarshal(text, &e); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && int(syntax.Offset) >= len(text) {
			return errors.New("the audit log is cut off within this event; without this line the rest can be read")
		}
		return fmt.Errorf("want an event of an audit log, one JSON object each line: %w", err)
	}
	switch {
	case e.Kind != "Event":
		return fmt.Errorf("%q is no event of an audit log (audit.k8s.io/v1)", e.Kind)
	case e.Stage != auditStage:
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
	case e.ResponseStatus.Code >= 300:
		return "as the server refused what they asked for"
	}
	var object struct {
		kubectl.Object
		Items []kubectl.Object
	}
	for _, part := range []json.RawMessage{e.Request, e.Response} { // what the server answered counts
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
	case "delete ":
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

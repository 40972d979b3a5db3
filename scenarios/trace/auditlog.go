package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// auditDocumentMost bounds a line, and a document of several lines: a list of 5,000 pods at level RequestResponse takes
// some 50 MB.
const auditDocumentMost = 256 << 20

// readAudit reads an audit log, which may be gzipped: an event a line, as API servers write it; an EventList, as their
// webhooks send it; or either of them as CloudWatch keeps it, in messages, or behind a time. Errors are
// *scenarios.InputError with the line.
func (h *history) readAudit(r io.Reader, file string) error {
	lines, err := unzipped(r)
	if err != nil {
		return &scenarios.InputError{File: file, Line: 1, Column: 1, Message: "not gzip, though it begins like it: " + err.Error()}
	}
	before := h.records
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		switch {
		case err != nil && !last:
			return &scenarios.InputError{File: file, Line: n, Column: 1, Message: "cannot be read on: " + err.Error()}
		case len(text) > auditDocumentMost:
			return &scenarios.InputError{File: file, Line: n, Column: 1, Message: "the line is too long for an event of an audit log"}
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			err := h.auditText(text)
			if cut := (*cutOffError)(nil); errors.As(err, &cut) && !last && h.records+h.otherStages == before {
				// No line of one event: a document of several lines.
				rest, rerr := io.ReadAll(io.LimitReader(lines, auditDocumentMost))
				if rerr != nil {
					return fmt.Errorf("read %s: %w", file, rerr)
				}
				last, err = true, h.auditDocuments(append(append(text, '\n'), rest...))
			}
			if err != nil {
				return &scenarios.InputError{File: file, Line: n, Column: 1, Message: err.Error()}
			}
		}
		if last {
			break
		}
	}
	if h.records == before {
		return &scenarios.InputError{File: file, Line: 1, Column: 1, Message: "the audit log has no event"}
	}
	return nil
}

// unzipped is what a file says, gzipped or not.
func unzipped(r io.Reader) (*bufio.Reader, error) {
	plain := bufio.NewReaderSize(r, 1<<20)
	if magic, _ := plain.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return plain, nil
	}
	z, err := gzip.NewReader(plain)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, 1<<20), nil
}

// auditDocuments takes documents one behind the other.
func (h *history) auditDocuments(text []byte) error {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var one json.RawMessage
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return &cutOffError{}
		case err != nil:
			return wantAudit(err)
		}
		if err := h.auditText(one); err != nil {
			return err
		}
	}
}

// auditWrapping is what events come in.
type auditWrapping struct {
	Kind  string
	Items []json.RawMessage
	// Message is a CloudWatch event's; Events are what its API answers.
	Message string
	Events  []struct{ Message string }
}

// auditText takes a line or a document.
func (h *history) auditText(text []byte) error {
	if at, rest, ok := bytes.Cut(text, []byte(" ")); ok && at[0] != '{' { // as CloudWatch exports it
		if _, err := time.Parse(time.RFC3339, string(at)); err == nil {
			text = rest
		}
	}
	var w auditWrapping
	if err := json.Unmarshal(text, &w); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && int(syntax.Offset) >= len(text) {
			return &cutOffError{}
		}
		return wantAudit(err)
	}
	switch {
	case w.Kind == "EventList":
		for _, item := range w.Items {
			if err := h.auditEvent(item); err != nil {
				return err
			}
		}
		return nil
	case w.Kind == "" && w.Message != "":
		return h.auditMessage(w.Message)
	case w.Kind == "" && w.Events != nil:
		for _, e := range w.Events {
			if err := h.auditMessage(e.Message); err != nil {
				return err
			}
		}
		return nil
	}
	return h.auditEvent(text)
}

// auditMessage takes the text of a CloudWatch event, which may be of another log of the control plane.
func (h *history) auditMessage(text string) error {
	if len(text) == 0 || text[0] != '{' {
		h.records++
		h.drop("as they are other logs' messages")
		return nil
	}
	return h.auditEvent([]byte(text))
}

func wantAudit(err error) error {
	return fmt.Errorf("want an event of an audit log, one JSON object each line: %w", err)
}

// cutOffError is an event that goes on elsewhere.
type cutOffError struct{}

func (*cutOffError) Error() string {
	return "the audit log is cut off within this event; without it the rest can be read"
}

package kubectl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Object is any Kubernetes object. What it is about is left as it is: see Decode, Node and Pod.
type Object struct {
	Kind     string   `json:"kind"`
	Metadata Metadata `json:"metadata"`

	Spec   json.RawMessage `json:"spec"`
	Status json.RawMessage `json:"status"`
	// Items are a list's; Read takes them out.
	Items []Object `json:"items"`

	eventParts
}

// Metadata is what is the same for all objects. Absent parts are empty.
type Metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Created   time.Time         `json:"creationTimestamp"`
	Labels    map[string]string `json:"labels"`
	Owners    []Owner           `json:"ownerReferences"`
}

// Owner is an object that another belongs to.
type Owner struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Error is a text that is not what kubectl prints.
type Error struct {
	// Name says where the text comes from. Line and Column count from 1.
	Name         string
	Line, Column int
	// Message says what it is instead.
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: want Kubernetes objects as JSON, as kubectl get -o json prints them: %s", e.Name, e.Line, e.Message)
}

// Decode reads a part of an object; a part that is not there leaves into as it is.
func Decode(part json.RawMessage, into any) error {
	if len(part) == 0 {
		return nil
	}
	return json.Unmarshal(part, into)
}

// Read gives take each object of a text: of objects, of lists of them, or of several of both behind each other. The
// kind of a list's items, which servers leave out, is the list's. An error of take ends it. name says where the text
// comes from.
func Read(name string, text []byte, take func(Object) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var one Object
		begin := d.InputOffset()
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return located(name, text, begin, err)
		}
		if err := each(one, take); err != nil {
			return err
		}
	}
}

func each(one Object, take func(Object) error) error {
	if one.Items == nil {
		if one.Kind == "" || one.Metadata.Name == "" && one.Kind != "List" {
			return errors.New("an object without kind or name: want Kubernetes objects")
		}
		return take(one)
	}
	for _, item := range one.Items {
		if item.Kind == "" {
			item.Kind = strings.TrimSuffix(one.Kind, "List")
		}
		if err := each(item, take); err != nil {
			return err
		}
	}
	return nil
}

// located names the place at which a text is no JSON, is other JSON, or ends too early. begin is where the object
// begins.
func located(name string, text []byte, begin int64, err error) *Error {
	e := &Error{Name: name, Message: err.Error()}
	at := begin
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		at, e.Message = int64(len(text)), "it is cut off"
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at += kind.Offset
		if e.Message = kind.Field + " is a " + kind.Value; kind.Field == "" {
			e.Message = "it is a " + kind.Value
		}
	}
	before := text[:min(max(at, 0), int64(len(text)))]
	e.Line, e.Column = 1+bytes.Count(before, []byte("\n")), max(1, len(before)-bytes.LastIndexByte(before, '\n')-1)
	return e
}

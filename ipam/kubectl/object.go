package kubectl

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Object is any Kubernetes object. What it is about is left as it is: see Decode, Node and Pod. Its Spec and Status lie
// in the text that it comes from, and are good until whoever takes it returns.
type Object struct {
	// APIVersion is empty where neither the object nor its list says it.
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`

	Spec   json.RawMessage `json:"spec"`
	Status json.RawMessage `json:"status"`
	// Message is what a Status of the server says.
	Message string `json:"message"`
	// Items are a list's; Read takes them out.
	Items []Object `json:"items"`
	// ENIs are of what ipamd, the node program of AWS' CNI, shows of itself, which is no object: Read makes it one of
	// kind IPAMD.
	ENIs json.RawMessage `json:"ENIs"`

	eventParts
}

// Group is the API group of the object: "" of Pods and Nodes.
func (o Object) Group() string {
	group, _, named := strings.Cut(o.APIVersion, "/")
	if !named {
		return ""
	}
	return group
}

// Metadata is what is the same for all objects. Absent parts are empty.
type Metadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Created     time.Time         `json:"creationTimestamp"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Owners      []Owner           `json:"ownerReferences"`
	// Deleted is when it should be gone; zero where nobody has asked for that.
	Deleted time.Time `json:"deletionTimestamp"`
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
	return fmt.Sprintf("%s:%d: want Kubernetes objects as JSON, as kubectl get -o json prints them: %s", e.Name,
		e.Line, e.Message)
}

// Decode reads a part of an object; a part that is not there leaves into as it is.
func Decode(part json.RawMessage, into any) error {
	if len(part) == 0 {
		return nil
	}
	return json.Unmarshal(part, into)
}

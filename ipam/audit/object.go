package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// object is what audits look at of any Kubernetes object.
type object struct {
	Kind     string
	Metadata struct {
		Name, Namespace, UID string
		DeletionTimestamp    string
	}
	Spec   json.RawMessage
	Status json.RawMessage
	Items  []object
}

// Objects are what a cluster shows, by what they are.
type Objects struct {
	nodes    map[string]node
	pods     []pod
	services []service
	// ranges are those that the cluster or its CNI gave to nodes; used are addresses that the CNI has on record.
	ranges []heldRange
	used   []usedAddress
	// kinds counts objects by kind, those that say nothing here included.
	kinds map[string]int
}

type node struct {
	name      string
	addresses []netip.Addr
	// maxPods is how many pods its kubelet takes; 0: unknown.
	maxPods int
}

type pod struct {
	namespace, name, node string
	addrs                 []netip.Addr
	// host: it has its node's addresses. over: it runs no more.
	host, over bool
}

func (p pod) String() string { return p.namespace + "/" + p.name }

type service struct {
	name  string
	addrs []netip.Addr
	// cidrs are those of a ServiceCIDR.
	cidrs []netip.Prefix
}

// heldRange is a range that a node gives addresses of.
type heldRange struct {
	node   string
	prefix netip.Prefix
	// by says where that stands: "pod CIDR", "Calico block".
	by string
	// whole: the node has all of it that it will ever have, so that it can run out.
	whole bool
}

// usedAddress is an address that a CNI's record gives to a pod.
type usedAddress struct {
	addr           netip.Addr
	namespace, pod string
	node, by       string
}

// Parse reads objects, lists of them, or several of both behind each other; name says where they come from. What an object of a known
// kind should say and does not is an error that names it.
func (o *Objects) Parse(name string, text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var one object
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			at := min(int(d.InputOffset()), len(text))
			if errors.Is(err, io.ErrUnexpectedEOF) {
				at = len(text)
			}
			line := 1 + bytes.Count(text[:at], []byte("\n"))
			return fmt.Errorf("%s:%d: want Kubernetes objects as JSON, as kubectl get -o json prints them: %w", name, line, err)
		}
		if err := o.add(one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// Len is how many objects there are.
func (o *Objects) Len() (n int) {
	for _, k := range o.kinds { // in any order: it is a sum
		n += k
	}
	return n
}

func (o *Objects) add(one object) error {
	if o.kinds == nil {
		o.kinds, o.nodes = map[string]int{}, map[string]node{}
	}
	for _, item := range one.Items {
		if item.Kind == "" && len(one.Kind) > len("List") {
			item.Kind = one.Kind[:len(one.Kind)-len("List")] // servers leave the kind of a list's items out
		}
		if err := o.add(item); err != nil {
			return err
		}
	}
	if one.Items != nil {
		return nil
	}
	if one.Kind == "" || one.Metadata.Name == "" && one.Kind != "List" {
		return fmt.Errorf("an object without kind or name: want Kubernetes objects")
	}
	o.kinds[one.Kind]++
	read, known := readers[one.Kind]
	if !known {
		return nil
	}
	if err := read(o, one); err != nil {
		return fmt.Errorf("%s %s: %w", one.Kind, one.Metadata.Name, err)
	}
	return nil
}

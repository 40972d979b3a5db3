package audit

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// Objects are what a cluster shows, by what they are.
type Objects struct {
	// Readers are those of further kinds.
	Readers  map[string]Reader
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

// Hold says that a node gives addresses of a range; by names the record that says so.
func (o *Objects) Hold(node string, p netip.Prefix, by string) {
	o.ranges = append(o.ranges, heldRange{node: node, prefix: p, by: by})
}

// Use says that a record gives an address to a pod.
func (o *Objects) Use(a netip.Addr, namespace, pod, node, by string) {
	o.used = append(o.used, usedAddress{addr: a, namespace: namespace, pod: pod, node: node, by: by})
}

// Parse reads what kubectl.Read does; name says where it comes from. What an object of a known kind should say and does
// not is an error that names it.
func (o *Objects) Parse(name string, text []byte) error {
	err := kubectl.Read(name, text, o.add)
	if bad := (*kubectl.Error)(nil); err != nil && !errors.As(err, &bad) { // those name their place themselves
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// Len is how many objects there are.
func (o *Objects) Len() (n int) {
	for _, k := range o.kinds { // in any order: it is a sum
		n += k
	}
	return n
}

func (o *Objects) add(one kubectl.Object) error {
	if o.kinds == nil {
		o.kinds, o.nodes = map[string]int{}, map[string]node{}
	}
	o.kinds[one.Kind]++
	read := readers[one.Kind]
	if further := o.Readers[one.Kind]; further != nil {
		read = further
	}
	if read == nil {
		return nil
	}
	if err := read(o, one); err != nil {
		return fmt.Errorf("%s %s: %w", one.Kind, one.Metadata.Name, err)
	}
	return nil
}

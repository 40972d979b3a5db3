package policy

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Kind is which of the three lists of facts something is about.
type Kind uint8

// Kinds of facts.
const (
	Policies Kind = iota
	Pods
	Namespaces
)

var kindWords = [...]string{Policies: "policy", Pods: "pod", Namespaces: "namespace"}

// String is "policy", "pod" or "namespace".
func (k Kind) String() string { return kindWords[k] }

// Table keeps the facts and what follows from them. It is not safe for concurrent use. The zero Table is not usable;
// see New.
type Table struct {
	place     Place
	policies  map[string]map[Name]*Policy // by namespace
	pod       map[Name]*Pod
	namespace map[string]map[string]string
	listed    [3]bool
	// local are the pods of this node, with the filter that was told of each last.
	local map[Name]*Filter
	// dirty are those to be decided again; all: every one of them.
	dirty   map[Name]bool
	all     bool
	refused []Refused
}

// Refused is a service's address that a pod is not let to, although policies allow it some of the endpoints there.
type Refused struct {
	Pod     Name
	Addr    netip.AddrPort
	Proto   vppwire.Proto
	Allowed int
	Of      int
}

// String is one line for people.
func (r Refused) String() string {
	return fmt.Sprintf("pod %s is not let to %s %s: network policies allow it %d of %d endpoints there, and VPP asks before it chooses one", r.Pod, r.Addr, r.Proto, r.Allowed, r.Of)
}

// New returns a Table that knows of nothing.
func New() *Table {
	return &Table{policies: map[string]map[Name]*Policy{}, pod: map[Name]*Pod{}, namespace: map[string]map[string]string{},
		local: map[Name]*Filter{}, dirty: map[Name]bool{}}
}

// Settle says what the node's situation is; everything is decided again where it is another one.
func (t *Table) Settle(p Place) {
	if !reflect.DeepEqual(t.place, p) {
		t.place, t.all = p, true
	}
}

// Known reports whether all three lists have been told.
func (t *Table) Known() bool { return t.listed == [3]bool{true, true, true} }

// Hold says which pods run on this node, each once and in any order.
func (t *Table) Hold(pods []Name) {
	here := make(map[Name]bool, len(pods))
	for _, n := range pods {
		here[n] = true
		if _, known := t.local[n]; !known {
			t.local[n], t.dirty[n] = nil, true
		}
	}
	maps.DeleteFunc(t.local, func(n Name, _ *Filter) bool { return !here[n] })
}

// PolicySeen takes a policy as it is now. What the fact refers to stays the caller's and is not changed.
func (t *Table) PolicySeen(p Policy) {
	in := t.policies[p.Name.Namespace]
	if in == nil {
		in = map[Name]*Policy{}
		t.policies[p.Name.Namespace] = in
	}
	old := in[p.Name]
	if old != nil && reflect.DeepEqual(*old, p) {
		return
	}
	in[p.Name] = &p
	t.touch(old)
	t.touch(&p)
}

// touch has the pods of this node decided again that a policy selects.
func (t *Table) touch(p *Policy) {
	if p == nil {
		return
	}
	for n := range t.local { // in any order: a set
		if pod := t.pod[n]; n.Namespace == p.Name.Namespace && (pod == nil || p.Pods.Matches(pod.Labels)) {
			t.dirty[n] = true
		}
	}
}

// PodSeen takes a pod as it is now.
func (t *Table) PodSeen(p Pod) {
	old := t.pod[p.Name]
	if old != nil && reflect.DeepEqual(*old, p) {
		return
	}
	t.pod[p.Name] = &p
	t.moved(p.Name, old, &p)
}

// moved has those decided again for whom a pod has changed: itself, and whom policies let to it or from it.
func (t *Table) moved(n Name, old, now *Pod) {
	t.dirty[n] = true
	for _, in := range t.policies { // in any order: a set
		for _, p := range in {
			if t.concerns(p, old) || t.concerns(p, now) {
				t.touch(p)
			}
		}
	}
}

// concerns reports whether a pod is a peer of a policy.
func (t *Table) concerns(p *Policy, pod *Pod) bool {
	if pod == nil {
		return false
	}
	for _, rules := range [...][]Rule{p.IngressRules, p.EgressRules} {
		for i := range rules {
			r := &rules[i]
			named := slices.ContainsFunc(r.Ports, func(x Port) bool { return x.Named != "" })
			if r.Peers == nil && named {
				return true
			}
			for k := range r.Peers {
				if t.means(p, &r.Peers[k], pod) || named && slices.ContainsFunc(pod.Addrs, r.Peers[k].holds) {
					return true
				}
			}
		}
	}
	return false
}

// NamespaceSeen takes a namespace as it is now.
func (t *Table) NamespaceSeen(n Namespace) {
	if old, known := t.namespace[n.Name]; known && maps.Equal(old, n.Labels) {
		return
	}
	t.namespace[n.Name], t.all = n.Labels, true
}

// Gone takes away a policy, pod or namespace.
func (t *Table) Gone(k Kind, n Name) {
	switch k {
	case Policies:
		if p := t.policies[n.Namespace][n]; p != nil {
			delete(t.policies[n.Namespace], n)
			t.touch(p)
		}
	case Pods:
		if p := t.pod[n]; p != nil {
			delete(t.pod, n)
			t.moved(n, p, nil)
		}
	case Namespaces:
		if _, known := t.namespace[n.Name]; known {
			delete(t.namespace, n.Name)
			t.all = true
		}
	}
}

// Listed says which policies, pods or namespaces exist: any other is gone, also one that was told since the last list.
func (t *Table) Listed(k Kind, names []Name) {
	exist := make(map[Name]bool, len(names))
	for _, n := range names {
		exist[n] = true
	}
	var gone []Name
	switch k {
	case Policies:
		for _, in := range t.policies { // in any order: each is taken away by itself
			gone = slices.AppendSeq(gone, maps.Keys(in))
		}
	case Pods:
		gone = slices.Collect(maps.Keys(t.pod)) // in any order: likewise
	case Namespaces:
		for name := range t.namespace { // in any order: likewise
			gone = append(gone, Name{Name: name})
		}
	}
	for _, n := range gone {
		if !exist[n] {
			t.Gone(k, n)
		}
	}
	if !t.listed[k] {
		t.listed[k], t.all = true, true
	}
}

// Change is a pod of this node with what it may send and get now.
type Change struct {
	Pod    Name
	Filter Filter
}

// Changes returns the pods of this node whose filter is another one than at the last call, in the order of their names,
// and the services' addresses that any of those decided again are not let to. Nothing before all is Known.
func (t *Table) Changes() (changed []Change, refused []Refused) {
	if !t.Known() || !t.all && len(t.dirty) == 0 {
		return nil, nil
	}
	t.refused = nil
	for _, n := range slices.SortedFunc(maps.Keys(t.local), Name.Compare) {
		if !t.all && !t.dirty[n] {
			continue
		}
		f := t.decide(n)
		if old := t.local[n]; old == nil || !reflect.DeepEqual(*old, f) {
			t.local[n] = &f
			changed = append(changed, Change{n, f})
		}
	}
	clear(t.dirty)
	t.all = false
	return changed, t.refused
}

// decide is a pod's filter by what is known now.
func (t *Table) decide(n Name) Filter {
	if pod := t.pod[n]; pod != nil {
		return t.filter(pod)
	}
	if len(t.policies[n.Namespace]) == 0 {
		return t.filter(&Pod{Name: n})
	}
	return t.place.Closed()
}

// Filter is what a pod of this node may send and get by the last Changes, or by what is known now where that has not told
// of it; false before all is Known: then it is closed.
func (t *Table) Filter(n Name) (f Filter, known bool) {
	if !t.Known() {
		return t.place.Closed(), false
	}
	if f := t.local[n]; f != nil {
		return *f, true
	}
	return t.decide(n), true
}

// selecting are the policies that select a pod, in any order.
func (t *Table) selecting(pod *Pod) (list []*Policy) {
	for _, p := range t.policies[pod.Name.Namespace] { // in any order: the rules are sorted
		if p.Pods.Matches(pod.Labels) {
			list = append(list, p)
		}
	}
	return list
}

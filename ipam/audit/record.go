package audit

// ownerKind is what a record gives an address to.
type ownerKind uint8

const (
	// ofOther is whatever the record names and this does not know.
	ofOther ownerKind = iota
	ofPod
	// ofNode is an address that a node itself has, such as a tunnel's.
	ofNode
	ofService
	// ofReserved is kept back, and ofCooling is free but not given again yet.
	ofReserved
	ofCooling
)

// owner is to what a record gives an address.
type owner struct {
	kind            ownerKind
	namespace, name string
	// node is where the record has it; empty: nowhere.
	node string
	// what says what of a node has it, or what an unknown owner is called.
	what string
	// second is another pod that may have it as well, on its node, as while a virtual machine moves.
	second     podName
	secondNode string
	// kept: it stays while its pod is away, as those of a StatefulSet's pods do in some systems.
	kept bool
}

func (o owner) pod() podName { return podName{o.namespace, o.name} }

// has reports whether it is a pod's.
func (o owner) has(p *pod) bool {
	return o.kind == ofPod && (o.pod() == p.podName || o.second == p.podName)
}

// at reports whether it is a pod's on the pod's node.
func (o owner) at(p *pod) bool {
	is := func(name podName, node string) bool { return name == p.podName && (node == "" || node == p.node) }
	return o.kind == ofPod && (is(o.pod(), o.node) || is(o.second, o.secondNode))
}

// String names it.
func (o owner) String() string {
	switch o.kind {
	case ofPod:
		return "pod " + o.pod().String()
	case ofNode:
		return "the " + o.what + " of node " + o.node
	case ofService:
		return "service " + o.pod().String()
	case ofCooling:
		return "no one, as it was released a moment ago"
	case ofReserved:
		return "no one, as it is reserved"
	}
	return o.what
}

package fault

import "strconv"

// Op is one operation that is about to happen.
type Op struct {
	// Node is the machine that performs it or receives it.
	Node string
	Kind OpKind
	// Name is what is done: a VPP message such as tap_create_v3, a store request such as create, an effect such as
	// Persist.
	Name string
	// Key is what it is done to, empty where that is nothing in particular: a store key, a pod, an object's key.
	Key string
}

// OpKind is a kind of operation. The zero OpKind is invalid.
type OpKind uint8

// The kinds of operations.
const (
	// KindDataplane is one call to VPP or Linux.
	KindDataplane OpKind = iota + 1
	// KindStore is a request to the cluster's store.
	KindStore
	// KindStoreWatch and KindAPIWatch are deliveries of a change by the store and by the API server.
	KindStoreWatch
	KindAPIWatch
	// KindPersist is an append to, or a replacement of, a journal on disk.
	KindPersist
	// KindCNI is a request of the container runtime.
	KindCNI
	// KindEffect is any effect of an agent by its name, whatever kind of operation it leads to.
	KindEffect
	// KindControl is a request by which a system that gives blocks to nodes reads or changes its state: an entry of a
	// ledger, a resource, a Node object, a call of EC2's API. Its Node is the controller, or the node whose daemon asks.
	KindControl
	// KindControlWatch is a delivery of a change by the API server to whatever watches it beside agents: controllers,
	// nodes' daemons that give blocks, the scheduler, kubelets. Its Name is what the change is of: node, pod, resource.
	KindControlWatch
	// KindControlList is a list that the API server answers to one of those from its cache: a delayed one says what was so
	// that much earlier. Its Name is as KindControlWatch's.
	KindControlList
	kindEnd
)

// kindWords are the kinds in Parse's text.
var kindWords = [kindEnd]string{
	KindDataplane: "dataplane", KindStore: "store", KindStoreWatch: "store-watch", KindAPIWatch: "api-watch",
	KindPersist: "persist", KindCNI: "cni", KindEffect: "effect", KindControl: "control",
	KindControlWatch: "control-watch", KindControlList: "control-list",
}

func (k OpKind) String() string {
	if k > 0 && k < kindEnd {
		return kindWords[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// ParseKind reads what String wrote.
func ParseKind(s string) (OpKind, bool) {
	for k := OpKind(1); k < kindEnd; k++ {
		if kindWords[k] == s {
			return k, true
		}
	}
	return 0, false
}

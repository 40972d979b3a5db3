package cilium

import (
	"fmt"
	"net/netip"
	"strings"
)

// ActionKind is what an Action asks for. The zero ActionKind is invalid.
type ActionKind uint8

const (
	// ActAllocate asks the cloud for Count more addresses of Node; answer with Allocated.
	ActAllocate ActionKind = iota + 1
	// ActFree gives IP of Node back to the cloud, where "not there" is success; answer with Freed.
	ActFree
	// ActWrite writes Resource, if the stored one still has its ResourceVersion; answer with Update or Refused.
	ActWrite
)

// Action is one thing that an Operator wants done.
type Action struct {
	Kind     ActionKind
	Node     string
	Count    int
	IP       netip.Addr
	Resource *CiliumNode
}

// String is one line for logs and tests; a write tells the pool's size and the handshake.
func (a Action) String() string {
	switch a.Kind {
	case ActAllocate:
		return fmt.Sprintf("%s allocate %d", a.Node, a.Count)
	case ActFree:
		return fmt.Sprintf("%s free %s", a.Node, a.IP)
	case ActWrite:
		var b strings.Builder
		fmt.Fprintf(&b, "%s write pool of %d", a.Node, len(a.Resource.Spec.IPAM.Pool))
		for _, ip := range sortedAddrs(a.Resource.Status.IPAM.ReleaseIPs) {
			fmt.Fprintf(&b, ", %s %s", ip, a.Resource.Status.IPAM.ReleaseIPs[ip])
		}
		if e := a.Resource.Status.IPAM.OperatorStatus.Error; e != "" {
			fmt.Fprintf(&b, ", error %q", e)
		}
		return b.String()
	}
	return fmt.Sprintf("action %d", a.Kind)
}

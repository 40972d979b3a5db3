package nodeagent

import (
	"testing"

	"go.fd.io/govpp/binapi/fib_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// Dump implements vppwire.Linux.
func (k *kernel) Dump(netns string) (vppwire.LinuxState, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.Host.Dump(netns)
}

// Goal: an agent's process tells what VPP and Linux still hold of an address when it is released, and of addresses
// whose wiring has gone nothing. Method: pods on a modelled VPP; in each of VPP and the pod's namespace one thing is
// left that the agent does not know of.
func TestLeftovers(t *testing.T) {
	n := newNode(t)
	n.begin()
	n.until("the agent is idle", func() bool { s := n.state("0"); return s.Pending == "" && s.VPPUp && s.ID != 0 })
	add := func(pod string) State {
		must(t, n.kernel.namespace("/run/netns/"+pod))
		if r := n.cni(wire.Add, pod); r.Code != 0 {
			t.Fatalf("%+v", r)
		}
		return n.state("0")
	}
	del := func(pod string) []Left {
		if r := n.cni(wire.Del, pod); r.Code != 0 {
			t.Fatalf("%+v", r)
		}
		s := n.state("0")
		return s.Changes[len(s.Changes)-1].Left
	}
	add("clean")
	if left := del("clean"); len(left) > 0 {
		t.Errorf("of a pod that has gone: %+v", left)
	}
	addr := add("routed").Leases[0].Addr
	c, err := host.Socket(n.config.VPP).Dial(t.Context())
	must(t, err)
	defer c.Close()
	reply := &ip.IPRouteAddDelV2Reply{}
	must(t, c.Invoke(t.Context(), &ip.IPRouteAddDelV2{IsAdd: true, Route: ip.IPRouteV2{Src: 9, Prefix: ip_types.Prefix{Address: ip_types.NewAddress(addr.AsSlice()), Len: 32},
		NPaths: 1, Paths: []fib_types.FibPath{{Type: fib_types.FIB_API_PATH_TYPE_LOCAL, SwIfIndex: ^uint32(0), Weight: 1}}}}, reply))
	if reply.Retval != 0 {
		t.Fatalf("route: %d", reply.Retval)
	}
	if left := del("routed"); len(left) != 1 || left[0].Addr != addr || left[0].Thing != "entry in table 0" || left[0].Owner.ContainerID != "routed" {
		t.Errorf("of a pod whose route is there: %+v", left)
	}

	l := newLeftovers(&agent.Config{NodeName: "node-1"}, host.Socket(n.config.VPP), n.kernel)
	if _, found := l.inLinux("/run/netns/none", "eth0"); found {
		t.Error("something is left in a namespace that is not there")
	}
	add("linked")
	if thing, found := l.inLinux("/run/netns/linked", "eth0"); !found || thing == "" {
		t.Error("a pod's link is not seen")
	}
}

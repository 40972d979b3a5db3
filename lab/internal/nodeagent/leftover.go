package nodeagent

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// Left is what VPP or Linux still held of an address's last owner when it was released, or when another owner got it.
type Left struct {
	Addr netip.Addr
	fact.Leftover
}

// lookTime is how long the agent's goroutine waits for VPP at most when it looks for leftovers. A VPP that hangs
// answers neither this nor the agent.
const lookTime = time.Second

// leftovers asks VPP and Linux themselves, over a connection of its own, what they hold of addresses at the moment when
// the agent has decided to release or to lease them and nothing of what follows has begun.
type leftovers struct {
	node  string
	vpp   host.VPP
	linux vppwire.Linux
	// tables are those that a pod's address may be in.
	tables []uint32

	conn host.Conn // nil: not connected
	// netns are the namespaces of the owners of addresses, last the last owners of those that are free.
	netns map[ipam.Owner]string
	last  map[netip.Addr]ipam.Owner
}

func newLeftovers(c *agent.Config, vpp host.VPP, kernel vppwire.Linux) *leftovers {
	cfg := *c
	cfg.ApplyDefaults()
	m := cfg.Mode()
	return &leftovers{node: c.NodeName, vpp: vpp, linux: kernel, tables: slices.Compact([]uint32{m.MainTable, m.PodTable}),
		netns: map[ipam.Owner]string{}, last: map[netip.Addr]ipam.Owner{}}
}

// learn notes where the agent's attachments are.
func (l *leftovers) learn(a *agent.Agent) {
	for t := range a.Attachments() {
		l.netns[t.Lease.Owner] = t.Sandbox.Netns
		if t.Second.Addr.IsValid() {
			l.netns[t.Second.Owner] = t.Sandbox.Netns
		}
	}
}

// changed looks at what a step has released and leased.
func (l *leftovers) changed(a *agent.Agent, gone, come []ipam.Record) (list []Left) {
	for _, r := range gone {
		l.last[r.Addr] = r.Owner
		list = l.look(list, r.Addr, r.Owner, l.netns[r.Owner])
		delete(l.netns, r.Owner)
	}
	for _, r := range come {
		if last, had := l.last[r.Addr]; had && last != r.Owner {
			list = l.look(list, r.Addr, last, "")
		}
		delete(l.last, r.Addr)
	}
	if len(come) > 0 {
		l.learn(a)
	}
	return list
}

// look adds what is left of an address, the first that is found.
func (l *leftovers) look(list []Left, a netip.Addr, owner ipam.Owner, netns string) []Left {
	thing, found := l.inVPP(a)
	if !found && netns != "" {
		thing, found = l.inLinux(netns, owner.IfName)
	}
	if !found {
		return list
	}
	return append(list, Left{a, fact.Leftover{Node: l.node, Thing: thing, Owner: owner}})
}

// inVPP finds an entry of a table for exactly this address. A VPP that is away holds nothing.
func (l *leftovers) inVPP(a netip.Addr) (thing string, found bool) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	for _, table := range l.tables {
		m := &ip.IPRouteLookupV2{TableID: table, Exact: 1, Prefix: ip_types.Prefix{Address: ip_types.NewAddress(a.AsSlice()), Len: uint8(a.BitLen())}}
		reply := &ip.IPRouteLookupV2Reply{}
		if err := l.ask(ctx, m, reply); err != nil {
			return "", false
		}
		if reply.Retval == 0 && leadsTo(reply.Route.Paths, a) {
			return fmt.Sprintf("entry in table %d", table), true
		}
	}
	return "", false
}

// ask asks VPP, once more over a new connection where the former one has ended.
func (l *leftovers) ask(ctx context.Context, m, reply api.Message) error {
	if l.conn != nil {
		if err := l.conn.Invoke(ctx, m, reply); err == nil {
			return nil
		}
		l.close()
	}
	c, err := l.vpp.Dial(ctx)
	if err != nil {
		return err
	}
	l.conn = c
	if err := c.Invoke(ctx, m, reply); err != nil {
		l.close()
		return err
	}
	return nil
}

func (l *leftovers) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// leadsTo reports whether a route is an address's own: it leads to an interface where the address is, or to the VPP
// itself. One to another table, or by another next hop, leads where a block is that has only this address.
func leadsTo(paths []fib_types.FibPath, a netip.Addr) bool {
	return slices.ContainsFunc(paths, func(p fib_types.FibPath) bool {
		switch {
		case p.Type == fib_types.FIB_API_PATH_TYPE_LOCAL:
			return true
		case p.Type != fib_types.FIB_API_PATH_TYPE_NORMAL || p.SwIfIndex == ^uint32(0):
			return false
		}
		hop := nextHop(p, a.Is6())
		return hop.IsUnspecified() || hop == a
	})
}

func nextHop(p fib_types.FibPath, ip6 bool) netip.Addr {
	if ip6 {
		return netip.AddrFrom16(p.Nh.Address.GetIP6())
	}
	return netip.AddrFrom4(p.Nh.Address.GetIP4())
}

// inLinux finds the pod's link in its namespace. A namespace that has gone holds nothing.
func (l *leftovers) inLinux(netns, name string) (thing string, found bool) {
	s, err := l.linux.Dump(netns)
	if err != nil {
		return "", false
	}
	if slices.ContainsFunc(s.Links, func(x vppwire.LinuxLink) bool { return x.Name == name }) {
		return "link " + name + " in its namespace", true
	}
	return "", false
}

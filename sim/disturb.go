package sim

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// network names used by cluster's kubelets.
const cniNetwork = "vppdrill"

// repeatDel sends DEL again for sandboxes that are long gone.
func (w *World) repeatDel(m *machine, count int) error {
	for i := range count {
		owner := ipam.Owner{Network: cniNetwork, ContainerID: fmt.Sprintf("%064x", i+1), IfName: "eth0"}
		if len(m.past) > 0 {
			owner = m.past[w.eng.Choose("past sandbox", len(m.past))]
		}
		w.ask(m, "Del", owner, func(res cluster.CNIResult) {
			if res.Code != 0 && res != noAgent && !w.faulty() {
				m.fact(scenarios.Fact{Kind: scenarios.FactDelRefused, Owner: owner, Text: res.Message})
			}
		}, func(_ *process, n uint64) agent.Event { return agent.PodDel{Request: n, Owner: owner} })
	}
	return nil
}

// checkPods sends CHECK for every pod that has an address.
func (w *World) checkPods(m *machine) error {
	for s := range w.cluster.Kubelet(m.name).Sandboxes() {
		if !s.Addr.IsValid() {
			continue
		}
		owner, addr := s.Owner, s.Addr.Addr()
		w.ask(m, "Check", owner, func(cluster.CNIResult) {}, func(_ *process, n uint64) agent.Event {
			return agent.PodCheck{Request: n, Owner: owner, Addr: addr}
		})
	}
	return nil
}

// gc sends GC with the attachments of every sandbox that exists.
func (w *World) gc(m *machine) error {
	var valid []ipam.Owner
	for s := range w.cluster.Kubelet(m.name).Sandboxes() {
		valid = append(valid, s.Owner)
	}
	w.ask(m, "GC", ipam.Owner{Network: cniNetwork, ContainerID: "all", IfName: "all"}, func(cluster.CNIResult) {},
		func(_ *process, n uint64) agent.Event {
			return agent.PodGC{Request: n, Network: cniNetwork, Valid: valid}
		})
	return nil
}

// disturbed tells that something has begun which changes what nodes should look like and which no other fact tells.
func (w *World) disturbed() { w.emit(scenarios.Fact{Kind: scenarios.FactDisturbed}) }

// changeCIDR gives the cluster other address ranges; agents learn of it each in its time.
func (w *World) changeCIDR(a scenarios.ChangeCIDR) error {
	c := w.s.Config.IPAM
	if w.ipam != nil {
		c = *w.ipam
	}
	c = a.Apply(c)
	p, err := poolsFor(c)
	if err != nil {
		return fmt.Errorf("change-cidr: %w", err)
	}
	w.ipam, w.pools = &c, p
	w.disturbed()
	return w.api.SetConfigMap(poolsName, p)
}

func (w *World) setPodCIDR(m *machine, a scenarios.SetPodCIDR) error {
	w.disturbed()
	w.reassign(m.name, a.PodCIDR)
	return w.api.SetNode(m.name, "", func(n *cluster.Node) { n.PodCIDRs = []netip.Prefix{a.PodCIDR} })
}

// changeAddress gives a node another interconnect address, as DHCP or an operator does.
func (w *World) changeAddress(m *machine, a scenarios.ChangeNodeAddress) error {
	w.disturbed()
	m.own = a.Address
	if m.proc != nil {
		m.proc.step(agent.OwnAddress{Addr: a.Address})
	}
	return nil
}

// changeManagement gives a node's Linux side other addresses.
func (w *World) changeManagement(m *machine, a scenarios.ChangeManagement) error {
	w.disturbed()
	m.setManagement(slices.Clone(a.Addresses))
	if m.proc != nil {
		m.proc.step(agent.HostAddresses{Addrs: m.management})
	}
	return w.api.SetNode(m.name, "", func(n *cluster.Node) { n.Addresses = slices.Clone(a.Addresses) })
}

// end resolves one end of a connection.
func (w *World) end(e scenarios.Endpoint, verb string) (cluster.Endpoint, error) {
	switch e {
	case scenarios.APIServer:
		return w.net.Endpoint(cluster.EndpointAPI), nil
	case scenarios.Store:
		return w.net.Endpoint(cluster.EndpointStore), nil
	}
	m, err := w.one(scenarios.NodeRef(e), verb, present)
	if err != nil {
		return 0, err
	}
	return m.at, nil
}

func (w *World) ends(pair [2]scenarios.Endpoint, verb string) (a, b cluster.Endpoint, err error) {
	if a, err = w.end(pair[0], verb); err != nil {
		return 0, 0, err
	}
	b, err = w.end(pair[1], verb)
	return a, b, err
}

func (w *World) partition(p scenarios.Partition) error {
	a, b, err := w.ends(p.Between, p.Verb())
	if err != nil {
		return err
	}
	w.net.Cut(a, b)
	if !p.OneWay {
		w.net.Cut(b, a)
	}
	w.until(p.For, "mend "+w.net.Name(a)+" "+w.net.Name(b), func() {
		w.net.Mend(a, b)
		w.net.Mend(b, a)
	})
	return nil
}

func (w *World) slowLink(s scenarios.SlowLink) error {
	a, b, err := w.ends(s.Between, s.Verb())
	if err != nil {
		return err
	}
	usual := w.net.Default()
	l := cluster.Link{DelayMin: usual.DelayMin, DelayMax: usual.DelayMax + s.Delay, Loss: s.Loss, Duplicate: s.Duplicate}
	w.net.Set(a, b, l)
	w.net.Set(b, a, l)
	w.until(s.For, "usual link "+w.net.Name(a)+" "+w.net.Name(b), func() {
		w.net.Set(a, b, usual)
		w.net.Set(b, a, usual)
	})
	return nil
}

// watchFault changes the faults of every watch of a node's agent.
func (w *World) watchFault(m *machine, change func(*cluster.StreamFaults)) {
	p := m.proc
	if p == nil {
		return
	}
	change(&p.client.Faults)
	change(&p.feed.Nodes.Faults)
	change(&p.feed.Pods.Faults)
	change(&p.feed.Configs.Faults)
}

// staleWatch makes a node's agent see everything late.
func (w *World) staleWatch(m *machine, d time.Duration) {
	lag := d
	if lag == 0 || lag > staleMost {
		lag = staleMost
	}
	w.watchFault(m, func(f *cluster.StreamFaults) { f.Lag = lag })
	w.until(d, "fresh watch "+m.name, func() { w.watchFault(m, func(f *cluster.StreamFaults) { f.Lag = 0 }) })
}

// staleMost bounds how late a stale watch delivers; what was sent while it was stale still arrives that late.
const staleMost = 20 * time.Second

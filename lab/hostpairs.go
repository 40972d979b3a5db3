package lab

import (
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/lab/probe"
)

// hostPairs are pods and Linux sides that are promised a way to each other: on each node and between it and the next one, each
// host to a pod, a pod to each host, by its end of the link to VPP and by its management addresses. Nodes whose VPP is down or
// that are not joined with VPP are left out.
func (w *World) hostPairs() []probe.Pair {
	type side struct {
		host probe.Place
		to   []netip.Addr
		pod  probe.Place
	}
	var sides []side
	for _, n := range w.inOrder() {
		if vpp, _ := n.running(); vpp == nil || !w.interconnected() {
			continue
		}
		n.mu.Lock()
		end, management := n.last.HostLinux, n.management
		n.mu.Unlock()
		if !end.IsValid() {
			continue
		}
		s := side{host: probe.Place{Name: n.name + " host", Netns: n.machine.Netns(""), Addr: end}, to: append([]netip.Addr{end}, management...)}
		for _, p := range n.kubelet.sandboxes() {
			if p.Addr.IsValid() {
				s.pod = probe.Place{Name: n.name + " " + strings.TrimPrefix(p.Pod, "default/"), Netns: n.machine.Netns(p.Netns), Addr: p.Addr}
				break
			}
		}
		sides = append(sides, s)
	}
	var out []probe.Pair
	join := func(a, b side) {
		if b.pod.Addr.IsValid() {
			out = append(out, probe.Pair{From: a.host, To: b.pod})
		}
		for _, addr := range b.to {
			if a.pod.Addr.IsValid() {
				out = append(out, probe.Pair{From: a.pod, To: probe.Place{Name: b.host.Name, Netns: b.host.Netns, Addr: addr}})
			}
		}
	}
	for i, a := range sides {
		join(a, a)
		if b := sides[(i+1)%len(sides)]; len(sides) > 1 {
			join(a, b)
		}
	}
	return out
}

// interconnected reports whether the scenario joins VPP with its host.
func (w *World) interconnected() bool {
	c := w.agents()
	c.ApplyDefaults()
	return c.Mode().Interconnected()
}

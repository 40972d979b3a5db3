package lab

import (
	"context"
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// hostPairs are pods and Linux sides that are promised a way to each other: on each node and between it and the next
// one, each host to a pod, a pod to each host, by its end of the link to VPP and by its management addresses. Nodes
// whose VPP is down or that are not joined with VPP are left out.
func (w *World) hostPairs() []probe.Pair {
	return append(w.hostPairsOf(0), w.hostPairsOf(1)...)
}

// hostPairsOf are those of the first or the second address family.
func (w *World) hostPairsOf(family int) []probe.Pair {
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
		ends, management := []netip.Addr{n.last.HostLinux}, n.management
		if n.last.Second != nil {
			ends = append(ends, n.last.Second.HostLinux)
		}
		n.mu.Unlock()
		if !ends[0].IsValid() {
			continue
		}
		if family >= len(ends) {
			continue
		}
		end := ends[family]
		s := side{host: probe.Place{Name: n.name + " host", Netns: n.machine.Netns(""), Addr: end}, to: []netip.Addr{end}}
		for _, a := range management {
			if a.Is4() == end.Is4() {
				s.to = append(s.to, a)
			}
		}
		for _, p := range n.kubelet.sandboxes() {
			if p.Addr.IsValid() && p.Addr.Is4() == end.Is4() {
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

// wayOf is the way that the tables of VPPs and Linuxes give to a ping of the pods' MTU: there, unless only the way back
// ends badly. False where the lab cannot be dumped.
func (w *World) wayOf(ctx context.Context, p probe.Pair) (path walk.Path, ok bool) {
	s, err := w.look(ctx, true)
	if err != nil {
		return path, false
	}
	walker := walk.New(s)
	for _, way := range []probe.Pair{p, {From: p.To, To: p.From}} {
		from, found := w.pointOf(way.From.Netns)
		if !found {
			return path, ok
		}
		walker.Outcome(from, walk.Packet{Dst: way.To.Addr, Size: int(w.scenario().Config.Wiring.MTU), Whole: true})
		if path, ok = walker.Path(), true; path.Outcome.Kind != walk.Delivered {
			return path, true
		}
	}
	return path, ok
}

// pointOf is the node or pod whose namespace this process opens by that path.
func (w *World) pointOf(netns string) (walk.Point, bool) {
	for _, n := range w.inOrder() {
		if n.machine.Netns("") == netns {
			return walk.FromHost(n.name), true
		}
		for _, p := range n.kubelet.sandboxes() {
			if n.machine.Netns(p.Netns) == netns {
				return walk.FromPod(n.name, p.Netns), true
			}
		}
	}
	return walk.Point{}, false
}

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/packettrace"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/vppwire"
)

// TraceWanted is which packet is traced: from a pod to a pod, or to an address such as a service's.
type TraceWanted struct {
	// From and To are pods as "node-1/web-0"; To may be an address.
	From, To string
	// Proto is IP's number, 1 for a ping of either family; Port the destination's of TCP and UDP.
	Proto uint8
	Port  uint16
}

// Trace is a real packet's way beside the one that was foretold for it.
type Trace struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Packet string `json:"packet"`
	// Arrived: it was seen at the destination's own link. Answered: the sender got the answer.
	Arrived  bool `json:"arrived"`
	Answered bool `json:"answered"`
	// Wrong says what is not as it should be; empty when the packet was answered by the way that was foretold.
	Wrong string `json:"wrong,omitempty"`
	There Leg    `json:"there"`
	Back  *Leg   `json:"back,omitempty"`
	// Notes are what the comparison had to do without.
	Notes []string `json:"notes,omitempty"`
}

// Leg is one direction.
type Leg struct {
	Rows []packettrace.Row `json:"rows"`
	// Graphs are the nodes of each VPP's graph that the packet passed.
	Graphs []string `json:"graphs"`
	// Tables is what the tables that VPPs and Linuxes really have make of the packet.
	Tables string `json:"tables"`
	// differs is the row that differs first, or -1.
	differs int
}

// TraceLimit is how long a trace may take: three packets, and the dumps of a large lab.
const TraceLimit = time.Minute

const (
	// tracesMost is how often a packet is sent: the first may be lost to a neighbor that VPP has to ask for.
	tracesMost = 3
	// tracePatience is how long an answer may take, traceRest how long VPPs may take after it until they have told of it all.
	tracePatience = time.Second
	traceRest     = 100 * time.Millisecond
)

// Trace sends a packet, has all VPPs trace it, and lays what they saw beside what is foretold by what agents want. It empties VPPs'
// trace buffers.
func (w *World) Trace(ctx context.Context, want TraceWanted) (Trace, error) {
	from, fromNode, err := w.tracedPod(want.From)
	if err != nil {
		return Trace{}, err
	}
	to, _, err := w.tracedPod(want.To)
	if addr, bad := netip.ParseAddr(want.To); bad == nil {
		to, err = probe.Place{Name: want.To, Addr: addr}, nil
	}
	if err != nil {
		return Trace{}, err
	}
	if from.Addr.Is4() != to.Addr.Is4() {
		return Trace{}, fmt.Errorf("%s has no address of %s's family", from.Name, to.Name)
	}
	s, err := w.look(ctx, true)
	if err != nil {
		return Trace{}, err
	}
	t := tracing{w: w, from: from, to: to, fromNode: fromNode, want: want, have: s}
	t.wanted(ctx)
	if err := t.connect(ctx); err != nil {
		return Trace{}, err
	}
	defer t.close()
	for range tracesMost {
		out, err := t.once(ctx)
		if err != nil || out.Wrong == "" {
			return out, err
		}
		t.last = out
	}
	return t.last, nil
}

// tracedPod is a pod of the lab as "node-1/web-0".
func (w *World) tracedPod(name string) (probe.Place, string, error) {
	node, pod, _ := strings.Cut(name, "/")
	n := w.node(node)
	if n == nil {
		return probe.Place{}, "", fmt.Errorf("no pod %s", name)
	}
	for _, p := range n.kubelet.sandboxes() {
		if strings.TrimPrefix(p.Pod, "default/") == pod && p.Addr.IsValid() {
			return probe.Place{Name: name, Netns: n.machine.Netns(p.Netns), Addr: p.Addr}, node, nil
		}
	}
	return probe.Place{}, "", fmt.Errorf("%s has no pod %s with an address", node, pod)
}

// tracing is one trace under way.
type tracing struct {
	w        *World
	from, to probe.Place
	fromNode string
	want     TraceWanted
	// have is what is there, wish the same with VPPs as agents want them.
	have, wish fact.Snapshot
	notes      []string
	nodes      []packettrace.Node
	conns      []vppproc.Conn
	last       Trace
}

// wanted makes the snapshot that a way is foretold by.
func (t *tracing) wanted(ctx context.Context) {
	t.wish = t.have
	t.wish.Nodes = slices.Clone(t.have.Nodes)
	for i := range t.wish.Nodes {
		n := &t.wish.Nodes[i]
		if n.VPP == nil {
			continue
		}
		var view fact.VPP
		objects, err := t.w.node(n.Name).wants(ctx)
		if err == nil {
			if v, ok := probe.Wanted(n.VPP, objects); ok {
				view = v
			}
		}
		if view == nil {
			t.notes = append(t.notes, n.Name+": its agent does not say what it wants, so what its VPP has stands for that")
			continue
		}
		n.VPP = view
	}
}

// wants are the objects that a node's agent wants, by its plan.
func (n *node) wants(ctx context.Context) ([]vppwire.Object, error) {
	text, err := n.plan(ctx)
	if err != nil {
		return nil, err
	}
	return wantedObjects(text)
}

// wantedObjects reads a plan: each line that begins with a sign that is none of deletion.
func wantedObjects(plan string) (out []vppwire.Object, err error) {
	for line := range strings.Lines(plan) {
		text, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "  ")
		if !indented || len(text) < 3 || text[0] == '-' {
			continue
		}
		text, _, _ = strings.Cut(text[2:], "  (") // what it is instead, or why it is not
		o, err := vppwire.ParseObject(text)
		if err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		out = append(out, o)
	}
	if len(out) == 0 {
		return nil, errors.New("the plan is empty")
	}
	return out, nil
}

// connect opens a connection to each VPP that runs, and asks for its names.
func (t *tracing) connect(ctx context.Context) error {
	for i := range t.have.Nodes {
		n := &t.have.Nodes[i]
		if n.VPP == nil {
			t.notes = append(t.notes, n.Name+": its VPP is down and traces nothing")
			continue
		}
		c, err := vppproc.Dial(t.w.node(n.Name).machine.VPPDir())
		if err != nil {
			return err
		}
		t.conns = append(t.conns, c)
		names, err := packettrace.NamesOf(ctx, c, n.VPP)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		t.nodes = append(t.nodes, packettrace.Node{Name: n.Name, Names: names})
	}
	return nil
}

func (t *tracing) close() {
	for _, c := range t.conns {
		c.Close()
	}
}

// once sends one packet and compares.
func (t *tracing) once(ctx context.Context) (Trace, error) {
	for i, c := range t.conns {
		if err := packettrace.Begin(ctx, c); err != nil {
			return Trace{}, fmt.Errorf("%s: %w", t.nodes[i].Name, err)
		}
	}
	source := t.w.knocks.next()
	if source == t.want.Port {
		source = t.w.knocks.next()
	}
	k := probe.Knock{Pair: probe.Pair{From: t.from, To: t.to}, Proto: t.want.Proto, Port: t.want.Port, Allowed: true}
	got, err := probe.Shot(ctx, k, PodLink, source, tracePatience)
	if err != nil {
		return Trace{}, err
	}
	time.Sleep(traceRest)
	for i, c := range t.conns {
		if t.nodes[i].Packets, err = packettrace.Collect(ctx, c); err != nil {
			return Trace{}, fmt.Errorf("%s: %w", t.nodes[i].Name, err)
		}
	}
	return t.compare(got, source), nil
}

func (t *tracing) compare(got probe.Knocked, source uint16) Trace {
	flow := flowOf(t.from.Addr, t.to.Addr, t.want, source)
	out := Trace{From: t.from.Name, To: t.to.Name, Packet: packetWords(t.want, source), Arrived: got.Arrived, Answered: got.Answered, Notes: slices.Clone(t.notes)}
	there, saw := packettrace.Follow(t.nodes, t.fromNode, flow)
	if !saw {
		there = packettrace.Way{Node: t.fromNode, Hops: []packettrace.Hop{packettrace.Lost(t.fromNode, "no VPP has seen it")}}
	} else if there.Out != "" {
		there.Hops = append(there.Hops, t.behind(&there, got))
		out.Arrived = out.Arrived || t.to.Netns == "" && t.toLinux(there.Node, there.Out)
	}
	wish, have := t.foretell(t.wish, there, source), t.foretell(t.have, there, source)
	out.There = legOf(wish[0], have[0], there)
	if out.Arrived {
		back, _ := packettrace.Follow(t.nodes, there.Node, there.Last.Back())
		switch {
		case got.Answered:
			back.Hops = append(back.Hops, packettrace.Arrived(t.fromNode, "the sender has the answer"))
		case back.Out != "":
			back.Hops = append(back.Hops, packettrace.Lost(back.Node, "nothing was seen behind "+back.Out))
		case len(back.Hops) == 0:
			back.Hops = append(back.Hops, packettrace.Lost(there.Node, "no VPP has seen an answer"))
		}
		if len(wish) > 1 {
			tables := wish[1]
			if len(have) > 1 {
				tables = have[1]
			}
			leg := legOf(wish[1], tables, back)
			out.Back = &leg
		}
	}
	out.Wrong = out.judge(wish[0].Outcome)
	return out
}

// behind is the end of a way that left the last VPP that saw it.
func (t *tracing) behind(way *packettrace.Way, got probe.Knocked) packettrace.Hop {
	switch {
	case got.Arrived:
		return packettrace.Arrived(way.Node, "seen at "+t.to.Name+" "+PodLink)
	case t.to.Netns == "" && t.toLinux(way.Node, way.Out):
		return packettrace.Arrived(way.Node, "out to Linux by "+way.Out)
	}
	return packettrace.Lost(way.Node, "nothing was seen behind "+way.Out)
}

// toLinux reports whether an interface of a node leads to its Linux, rather than to the wire.
func (t *tracing) toLinux(node, name string) bool {
	for i := range t.have.Nodes {
		if n := &t.have.Nodes[i]; n.Name == node && n.VPP != nil {
			for ifc := range n.VPP.Interfaces() {
				if ifc.Name == name {
					return ifc.Type == fact.TypeAFPacket || ifc.Type == fact.TypeTap
				}
			}
		}
	}
	return false
}

// drawsMost bounds the locals of a mapping that are tried: VPP draws one, and the one that was seen is foretold for.
const drawsMost = 64

// foretell walks the packet and its answer through a snapshot.
func (t *tracing) foretell(s fact.Snapshot, seen packettrace.Way, source uint16) []walk.Path {
	from, ok := t.w.pointOf(t.from.Netns)
	if !ok {
		return []walk.Path{{Outcome: walk.Outcome{Kind: walk.Dropped, Why: "the pod is gone"}}}
	}
	p := walk.Packet{Dst: t.to.Addr, Proto: t.want.Proto, SrcPort: source, DstPort: t.want.Port}
	if p.Proto == probe.ProtoICMP {
		p.SrcPort = 0
		if t.to.Addr.Is6() {
			p.Proto = icmp6
		}
	}
	walker := walk.New(s)
	var first []walk.Path
	for draw := range drawsMost {
		drawn := false
		x, paths := walker.ExchangePaths(from, p, func(n int) int { drawn = true; return draw % n })
		if first == nil {
			first = paths
		}
		if !drawn || x.At.Addr() == seen.Last.Dst.Addr() {
			return paths
		}
	}
	return first
}

// icmp6 is IP's number of ICMPv6.
const icmp6 = 58

func legOf(wish, have walk.Path, seen packettrace.Way) Leg {
	l := Leg{Graphs: seen.Graphs, Tables: have.Outcome.String()}
	l.Rows, l.differs = packettrace.Compare(packettrace.Foretold(wish, wish.Packet.Dst), seen.Hops)
	return l
}

// judge says what is wrong.
func (t *Trace) judge(foretold walk.Outcome) string {
	legs := []struct {
		name string
		leg  *Leg
	}{{"there", &t.There}, {"back", t.Back}}
	for _, l := range legs {
		if l.leg == nil || l.leg.differs < 0 {
			continue
		}
		r := l.leg.Rows[l.leg.differs]
		return fmt.Sprintf("%s, first hop that differs: foretold %s; seen %s; by the tables of now it is %s", l.name, said(r.Foretold), said(r.Seen), l.leg.Tables)
	}
	switch {
	case foretold.Kind != walk.Delivered:
		return "it does not arrive, as foretold: " + foretold.String()
	case !t.Answered:
		return "it is not answered"
	}
	return ""
}

func said(h *packettrace.Hop) string {
	if h == nil {
		return "nothing"
	}
	return strings.Join(strings.Fields(h.Node+" "+h.Place), " ") + ": " + h.Says
}

// protocols are what a packet is called, and what VPP's tracer calls it.
var protocols = map[uint8][2]string{probe.ProtoICMP: {"ping", "ICMP"}, probe.ProtoTCP: {"TCP", "TCP"}, probe.ProtoUDP: {"UDP", "UDP"}}

func packetWords(want TraceWanted, source uint16) string {
	word := protocols[want.Proto][0]
	if want.Proto == probe.ProtoICMP {
		return fmt.Sprintf("%s, identifier %d", word, source)
	}
	return fmt.Sprintf("%s from port %d to %d", word, source, want.Port)
}

// flowOf is the packet as VPP's tracer writes it. It tells no identifier of ICMPv6.
func flowOf(from, to netip.Addr, want TraceWanted, source uint16) packettrace.Flow {
	sport, dport := source, want.Port
	if want.Proto == probe.ProtoICMP {
		dport = source
		if to.Is6() {
			sport, dport = 0, 0
		}
	}
	return packettrace.Flow{Proto: protocols[want.Proto][1], Src: netip.AddrPortFrom(from, sport), Dst: netip.AddrPortFrom(to, dport)}
}

// traceOrder traces a packet of a standing lab.
func traceOrder(ctx context.Context, w *World, body []byte) (any, error) {
	var want TraceWanted
	if err := json.Unmarshal(body, &want); err != nil {
		return nil, err
	}
	return w.Trace(ctx, want)
}

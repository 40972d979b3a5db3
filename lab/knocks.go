package lab

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/permitted"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// policiesLaw is the law of package check that real connections judge too: what the tables promise, packets do.
const policiesLaw = "policies-kept"

const (
	// knocksMost bounds the connections of one check; of more, pairs are left out evenly, and the run's story says so.
	knocksMost = 3000
	// knockPatience is how long an allowed connection may take: Linux sends the first packet again after 1 s and 3 s.
	knockPatience = 5 * time.Second
	// heldMost is how many sessions are held open from one check to the next, the next one's patience being a retransmission's.
	heldMost = 24
	// firstSource to lastSource are the source ports of checks, one for each: VPP lets pass what is of a session that it knows.
	firstSource, lastSource = 20_000, 30_000
)

// knocks is what a lab knows of its own connections for network policies. Only who drives the lab looks.
type knocks struct {
	source uint16
	held   []heldSession
	// leftOut is what the largest check left out for want of time.
	leftOut int
}

// next is the source port of another check.
func (k *knocks) next() uint16 {
	k.source++
	return firstSource + k.source%(lastSource-firstSource)
}

// heldSession is a session that was allowed when it began, with the lives of the VPPs that it began in.
type heldSession struct {
	*probe.Session
	from, to string
	lives    [2]int
}

// subject is one end of a connection.
type subject struct {
	permitted.Pod
	place probe.Place
	node  string
}

// subjects are the pods that policies are judged for, and the hosts of nodes that have one.
func (w *World) subjects(s *fact.Snapshot) (pods, hosts []subject) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		at := w.node(n.Name)
		if at == nil || !n.VPPUp || !n.AgentUp || n.ID == 0 {
			continue
		}
		for _, p := range n.Pods {
			if labels, known := s.Policies.Labels[p.Pod]; known && p.Addr.IsValid() {
				place := probe.Place{Name: n.Name + " " + strings.TrimPrefix(p.Pod, "default/"), Netns: at.machine.Netns(p.Netns), Addr: p.Addr}
				pods = append(pods, subject{permitted.Pod{Addr: p.Addr, Labels: labels}, place, n.Name})
			}
		}
		if n.HostLinux.IsValid() {
			hosts = append(hosts, subject{permitted.Pod{Addr: n.HostLinux}, probe.Place{Name: n.Name + " host", Netns: at.machine.Netns(""), Addr: n.HostLinux}, n.Name})
		}
	}
	return pods, hosts
}

// cut reports whether the fabric carries nothing between two nodes.
func (w *World) cut(a, b string) bool {
	return slices.ContainsFunc(w.cuts, func(c [2]string) bool { return c == [2]string{a, b} || c == [2]string{b, a} })
}

// checkPolicies opens real connections between pods at every port that policies can differ at: what they forbid must not be
// seen at the other end, what they allow must be answered, and sessions of earlier checks must go on. Its error is a
// violation. A scenario that does not want the law gets no connections.
func (w *World) checkPolicies(ctx context.Context) error {
	if !w.enforcing() || w.scenario().Laws != nil && !slices.Contains(w.scenario().Laws, policiesLaw) {
		return nil
	}
	s, err := w.look(ctx, false)
	if err != nil {
		return err
	}
	if len(s.Policies.Labels) == 0 {
		return nil // somebody has not heard of them
	}
	pods, hosts := w.subjects(&s)
	if err := w.speak(pods); err != nil {
		return err
	}
	if len(s.Policies.Policies) > 0 {
		if err := w.knock(ctx, &s.Policies, pods, hosts); err != nil {
			return err
		}
	}
	w.hold(ctx, &s.Policies, pods)
	return nil
}

// knock opens the connections.
func (w *World) knock(ctx context.Context, s *scenarios.PolicyState, pods, hosts []subject) error {
	list, of := w.knocksOf(s, pods)
	for _, h := range hosts {
		for _, p := range pods {
			if p.node == h.node && p.Addr.Is4() == h.Addr.Is4() {
				list = append(list, probe.Knock{Pair: probe.Pair{From: h.place, To: p.place}, Proto: probe.ProtoTCP, Port: 8080, Allowed: true})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	source := w.knocks.next()
	for slices.ContainsFunc(list, func(k probe.Knock) bool { return k.Port == source }) {
		source = w.knocks.next()
	}
	out, err := probe.Knocks(ctx, list, PodLink, source, knockPatience)
	if err != nil {
		return err
	}
	allowed := 0
	for i, k := range list {
		wrong := ""
		switch {
		case !k.Allowed && out[i].Arrived:
			wrong = "network policies forbid it, and a real packet arrives"
		case k.Allowed && !out[i].Answered && out[i].Arrived:
			wrong = "network policies allow it, and the real packet arrives, but no answer comes back"
		case k.Allowed && !out[i].Answered:
			wrong = "network policies allow it, and no real packet arrives"
		}
		if wrong != "" {
			return w.wrongKnock(ctx, k, source, wrong)
		}
		if k.Allowed {
			allowed++
		}
	}
	text := fmt.Sprintf("%d real connections that network policies allow were answered, %d that they forbid did not arrive", allowed, len(list)-allowed)
	if of > len(list) {
		text += fmt.Sprintf("; of %d that matter %d were left out", of, of-len(list))
		w.knocks.leftOut = max(w.knocks.leftOut, of-len(list))
	}
	w.Record.Note(text)
	return nil
}

// knocksOf are the connections between pods, and how many there would be without a bound.
func (w *World) knocksOf(s *scenarios.PolicyState, pods []subject) (list []probe.Knock, of int) {
	ports := permitted.Ports(s.Policies)
	if len(pods) < 2 {
		return nil, 0
	}
	all := len(pods) * (len(pods) - 1)
	for p, ends := range w.pairsOf(pods, max(1, min(all, knocksMost/len(ports)))) {
		from, to := ends[0], ends[1]
		for _, x := range ports {
			proto := uint8(probe.ProtoTCP)
			if x.Proto == scenarios.UDP {
				proto = probe.ProtoUDP
			}
			list = append(list, probe.Knock{Pair: p, Proto: proto, Port: x.Number, Allowed: permitted.Allowed(s, &from.Pod, &to.Pod, x)})
		}
	}
	if all*len(ports) > knocksMost {
		of = all * len(ports)
	}
	return list, of
}

// pairsOf are at most most pairs of pods, evenly spread, with their ends: those of two pods between which the fabric carries something.
func (w *World) pairsOf(pods []subject, most int) iter.Seq2[probe.Pair, [2]*subject] {
	places, by := make([]probe.Place, len(pods)), map[probe.Place]*subject{}
	for i := range pods {
		places[i], by[pods[i].place] = pods[i].place, &pods[i]
	}
	return func(yield func(probe.Pair, [2]*subject) bool) {
		for _, p := range probe.AllPairs(places, most) {
			ends := [2]*subject{by[p.From], by[p.To]}
			if p.From.Netns != p.To.Netns && !w.cut(ends[0].node, ends[1].node) && !yield(p, ends) {
				return
			}
		}
	}
}

// wrongKnock is the violation, with the way that the tables give to the packet.
func (w *World) wrongKnock(ctx context.Context, k probe.Knock, source uint16, what string) error {
	proto := scenarios.TCP
	if k.Proto == probe.ProtoUDP {
		proto = scenarios.UDP
	}
	v := &fact.Violation{Law: policiesLaw, At: w.Now(), What: fmt.Sprintf("the lab is quiet, but %s from %s (%s) to port %d of %s (%s): %s", proto, k.From.Name, k.From.Addr, k.Port, k.To.Name, k.To.Addr, what)}
	s, err := w.look(ctx, true)
	if err != nil {
		return v
	}
	if from, found := w.pointOf(k.From.Netns); found {
		v.After = walk.New(s).ExchangeWay(from, walk.Packet{Dst: k.To.Addr, Proto: k.Proto, SrcPort: source, DstPort: k.Port}, func(int) int { return 0 })
	}
	return v
}

// speak has the sessions of earlier checks say something, first those that the other end begins to speak in. One whose pods or VPPs
// are not there any more is let go.
func (w *World) speak(pods []subject) error {
	by := map[probe.Place]bool{}
	for _, p := range pods {
		by[p.place] = true
	}
	kept := w.knocks.held[:0]
	spoke := 0
	for i := range w.knocks.held {
		h := &w.knocks.held[i]
		if !by[h.From] || !by[h.To] || h.lives != w.lives(h.from, h.to) || w.cut(h.from, h.to) {
			h.Close()
			continue
		}
		if err := h.Speak(knockPatience); err != nil {
			w.knocks.held = append(kept, w.knocks.held[i:]...)
			return &fact.Violation{Law: policiesLaw, At: w.Now(), What: fmt.Sprintf("a TCP session from %s (%s) to port %d of %s (%s) was allowed when it began, both pods and their VPPs have lived on, and it is cut: %v",
				h.From.Name, h.From.Addr, h.Port, h.To.Name, h.To.Addr, err)}
		}
		spoke++
		kept = append(kept, *h)
	}
	w.knocks.held = kept
	if spoke > 0 {
		w.Record.Note(fmt.Sprintf("%d TCP sessions of earlier checks go on", spoke))
	}
	return nil
}

// lives are those of two nodes' VPPs.
func (w *World) lives(a, b string) (out [2]int) {
	for i, name := range [...]string{a, b} {
		if n := w.node(name); n != nil {
			n.mu.Lock()
			out[i] = n.vpp.life
			n.mu.Unlock()
		}
	}
	return out
}

// hold opens sessions that policies allow, for the next check: as many as there may be, of pairs evenly spread. One that cannot be
// opened is the affair of the connections.
func (w *World) hold(ctx context.Context, s *scenarios.PolicyState, pods []subject) {
	if len(pods) < 2 {
		return
	}
	for p, ends := range w.pairsOf(pods, 4*heldMost) {
		if len(w.knocks.held) >= heldMost || ctx.Err() != nil {
			return
		}
		from, to := ends[0], ends[1]
		if slices.ContainsFunc(w.knocks.held, func(h heldSession) bool { return h.Pair == p }) {
			continue
		}
		for _, x := range permitted.Ports(s.Policies) {
			if x.Proto == scenarios.TCP && permitted.Allowed(s, &from.Pod, &to.Pod, x) {
				// Of two in a row another end speaks first at the next check: who speaks has VPP know the session again.
				if session, err := probe.Hold(ctx, p, x.Number, knockPatience, len(w.knocks.held)); err == nil {
					w.knocks.held = append(w.knocks.held, heldSession{Session: session, from: from.node, to: to.node, lives: w.lives(from.node, to.node)})
				}
				break
			}
		}
	}
}

// letGo ends all sessions: of a lab that ends, or one whose pods' interfaces somebody breaks.
func (k *knocks) letGo() {
	for i := range k.held {
		k.held[i].Close()
	}
	k.held = nil
}

// mayAll reports whether policies allow everything from one place to another, as far as they are known.
func mayAll(s *scenarios.PolicyState, of map[string]subject, p probe.Pair) bool {
	from, known := of[p.From.Netns]
	to, alike := of[p.To.Netns]
	if !known || !alike || from.node == to.node && (from.Labels == nil || to.Labels == nil) {
		return true
	}
	from.Addr, to.Addr = p.From.Addr, p.To.Addr
	return permitted.Allowed(s, &from.Pod, &to.Pod, permitted.Port{})
}

// allowedPairs are the pairs that policies allow everything.
func (w *World) allowedPairs(pairs []probe.Pair) []probe.Pair {
	s := w.policyState()
	if len(s.Policies) == 0 {
		return pairs
	}
	of := map[string]subject{}
	for _, n := range w.inOrder() {
		of[n.machine.Netns("")] = subject{node: n.name}
		for _, p := range n.kubelet.sandboxes() {
			of[n.machine.Netns(p.Netns)] = subject{Pod: permitted.Pod{Labels: s.Labels[p.Pod]}, node: n.name}
		}
	}
	return slices.DeleteFunc(pairs, func(p probe.Pair) bool { return !mayAll(&s, of, p) })
}

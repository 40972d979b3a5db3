package suite

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/onsi/gomega/types"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// pairsWalkedMax is up to how many pairs of pods are walked one by one. A walk across a tunnel takes about two
// microseconds, so this many, 512 pods, take half a second; more pairs ask the law "reachable" first, which proves them
// by classes (6,000 pods in 130 ms).
const pairsWalkedMax = 1 << 18

// ReachEachOther matches a fact.Snapshot in which every answered pod reaches every other one. Pods without an address
// and those on machines that are down are left out; fewer than two pods prove nothing and are an error. The message
// shows the way of one packet that does not arrive, hop by hop.
func ReachEachOther() types.GomegaMatcher { return &reachEachOther{walkedMax: pairsWalkedMax} }

type reachEachOther struct {
	walkedMax int
	at        string
	pods      []pod
	// silent counts pods without an address, broken tells the first pair that fails.
	silent int
	broken string
}

// pod is one answered pod with its node.
type pod struct {
	*fact.PodState
	node string
}

func (p pod) String() string { return fmt.Sprintf("%s (%s) on %s", p.Pod, p.Addr, p.node) }

func (p pod) point() walk.Point { return walk.FromPod(p.node, p.Netns) }

// Match implements types.GomegaMatcher.
func (m *reachEachOther) Match(actual any) (bool, error) {
	s, err := snapshotOf("ReachEachOther", actual)
	if err != nil {
		return false, err
	}
	m.at, m.broken = scenarios.FormatDuration(s.At), ""
	m.pods, m.silent = answered(s)
	if len(m.pods) < 2 {
		return false, fmt.Errorf("ReachEachOther wants at least two pods with an address, and the snapshot at %s holds %d "+
			"(and %d without)",
			m.at, len(m.pods), m.silent)
	}
	if n := len(m.pods); n*(n-1) > m.walkedMax {
		if law, ok := check.ByName("reachable"); ok {
			if _, err := law.Check(s); err == nil {
				return true, nil
			}
		}
	}
	m.broken = firstBroken(s, m.pods)
	return m.broken == "", nil
}

// FailureMessage implements types.GomegaMatcher.
func (m *reachEachOther) FailureMessage(any) string {
	text := fmt.Sprintf("expected all %d answered pods to reach each other at %s, but\n%s", len(m.pods), m.at, m.broken)
	if m.silent > 0 {
		text += fmt.Sprintf("\n(pods without an address, left out: %d)", m.silent)
	}
	return text
}

// NegatedFailureMessage implements types.GomegaMatcher.
func (m *reachEachOther) NegatedFailureMessage(any) string {
	return fmt.Sprintf("expected some of %d answered pods not to reach another one at %s, but all of them do", len(m.pods),
		m.at)
}

// answered are the pods with an address, in node and owner order, and the number of those without.
func answered(s fact.Snapshot) (pods []pod, silent int) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.MachineUp {
			continue
		}
		for p := range n.Pods {
			if n.Pods[p].Addr.IsValid() {
				pods = append(pods, pod{&n.Pods[p], n.Name})
			} else {
				silent++
			}
		}
	}
	return pods, silent
}

// firstBroken walks every pair and tells the first that fails, "" when none does.
func firstBroken(s fact.Snapshot, pods []pod) string {
	w := walk.New(s)
	for _, from := range pods {
		for _, to := range pods {
			if from.PodState == to.PodState || w.Outcome(from.point(), walk.Packet{Dst: to.Addr}).To(to.node, to.Netns) {
				continue
			}
			return fmt.Sprintf("%s does not reach %s:\n%s", from, to, told(w.Walk(from.point(), to.Addr)))
		}
	}
	return ""
}

// told is a path, indented below a headline.
func told(p walk.Path) string { return "    " + strings.ReplaceAll(p.String(), "\n", "\n    ") }

// Destination is an address that a packet should arrive at; In makes a matcher of it.
type Destination struct{ addr netip.Addr }

// Reach begins a matcher for a walk.Point, the place where a packet starts:
//
//	Expect(walk.FromPod("node-1", netns)).To(suite.Reach(addr).In(snapshot))
func Reach(dst netip.Addr) Destination { return Destination{dst} }

// In is the matcher over one snapshot. An address that answered pods hold must be reached in the namespace of one of
// them; any other address is reached when some stack of the cluster, VPP's or Linux', takes the packet. The message
// shows every hop.
func (d Destination) In(s fact.Snapshot) types.GomegaMatcher { return &reach{dst: d.addr, s: s} }

type reach struct {
	dst  netip.Addr
	s    fact.Snapshot
	path walk.Path
	// elsewhere tells that the packet was delivered, to somebody who does not hold the address.
	elsewhere string
}

// Match implements types.GomegaMatcher.
func (m *reach) Match(actual any) (bool, error) {
	from, ok := actual.(walk.Point)
	if !ok {
		return false, fmt.Errorf("Reach wants a walk.Point, not %T", actual)
	}
	if !m.dst.IsValid() {
		return false, errors.New("Reach wants a valid address")
	}
	m.elsewhere = ""
	m.path = walk.Walk(m.s, from, m.dst)
	if m.path.Outcome.Kind != walk.Delivered {
		return false, nil
	}
	pods, _ := answered(m.s)
	for _, p := range pods {
		if p.Addr != m.dst {
			continue
		}
		if m.path.Outcome.To(p.node, p.Netns) {
			m.elsewhere = ""
			return true, nil
		}
		m.elsewhere = fmt.Sprintf("\nbut the address is that of %s in netns %s", p, p.Netns)
	}
	return m.elsewhere == "", nil
}

// FailureMessage implements types.GomegaMatcher.
func (m *reach) FailureMessage(any) string {
	return fmt.Sprintf("expected %s to reach %s:\n%s%s", m.path.From, m.dst, told(m.path), m.elsewhere)
}

// NegatedFailureMessage implements types.GomegaMatcher.
func (m *reach) NegatedFailureMessage(any) string {
	return fmt.Sprintf("expected %s not to reach %s:\n%s", m.path.From, m.dst, told(m.path))
}

// snapshotOf takes a snapshot by value or by pointer.
func snapshotOf(matcher string, actual any) (fact.Snapshot, error) {
	switch s := actual.(type) {
	case fact.Snapshot:
		return s, nil
	case *fact.Snapshot:
		if s != nil {
			return *s, nil
		}
	}
	return fact.Snapshot{}, fmt.Errorf("%s wants a fact.Snapshot, not %T", matcher, actual)
}

package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// soakTime is how long a lab waits after its end for programs that stir though they said that all is done, by the
// clock on the wall. An agent that tries something again does so after a second.
const soakTime = 3 * time.Second

// Soak lets time pass after the end of a run, for package result.
func (w *World) Soak(ctx context.Context) (stirred bool, err error) {
	return w.SoakFor(ctx, w.Snapshot, func(ctx context.Context) (fact.Snapshot, error) { return w.look(ctx, true) })
}

// SoakFor waits at the end of a run and tells what nodes' VPPs and Linux hold otherwise afterwards, by a snapshot
// from quiet and a later one from look. Where the first is not of a cluster at rest, nothing is told.
func (d *Drive) SoakFor(ctx context.Context, quiet, look func(context.Context) (fact.Snapshot, error)) (stirred bool, err error) {
	before, err := quiet(ctx)
	if err != nil || !before.Settled {
		return true, err
	}
	d.Record.Tell(fact.Fact{What: fact.Quiet{}}, "everything is healed and quiet")
	end := time.Now().Add(soakTime)
	for time.Now().Before(end) {
		if err := d.Pump(ctx, d.clock()); err != nil {
			return true, err
		}
		if err := pause(ctx, tick); err != nil {
			return true, err
		}
	}
	after, err := look(ctx)
	if err != nil {
		return true, err
	}
	for _, f := range Stirs(before, after) {
		// or later, when nobody looked: what explains it may be longer ago by now than it explains anything
		stirred, f.At = true, before.At
		w, _ := f.What.(fact.VPPWrite)
		d.Record.Tell(f, f.Node+" writes: "+w.Call)
	}
	return stirred, d.Deliver()
}

// Stirs are the nodes whose VPP or Linux hold something else in a later snapshot, as facts with the first line that is
// different. A node that one of them does not show says nothing.
func Stirs(before, after fact.Snapshot) (list []fact.Fact) {
	for i := range after.Nodes {
		n := &after.Nodes[i]
		was, there := before.Node(n.Name)
		if !there || was.VPP == nil || n.VPP == nil || was.Linux == nil || n.Linux == nil {
			continue
		}
		old, now := holds(was), holds(n)
		for _, lines := range [...]struct {
			of, without []string
			word        string
		}{{now, old, "there is now "}, {old, now, "there is no more "}} {
			if k := slices.IndexFunc(lines.of, func(line string) bool { return !slices.Contains(lines.without, line) }); k >= 0 {
				list = append(list, fact.Fact{Node: n.Name, What: fact.VPPWrite{Call: lines.word + lines.of[k]}})
				break
			}
		}
	}
	return list
}

// holds is what a node's VPP and Linux hold, as lines: what somebody has put there, and nothing that was learned or
// counted.
func holds(n *fact.NodeState) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i := range n.VPP.Interfaces() {
		say("interface %+v", i)
	}
	for id := range n.VPP.Tables() {
		for r := range n.VPP.Routes(id) {
			say("route %+v", r)
		}
	}
	for x := range n.VPP.Neighbors() {
		say("neighbor %+v", x)
	}
	for id := range n.VPP.Bridges() {
		if x, ok := n.VPP.Bridge(id); ok {
			say("bridge %+v", x)
		}
	}
	for x := range n.VPP.FIBs() {
		say("L2 %+v", x)
	}
	if nat, on := n.VPP.NAT(); on {
		for _, m := range nat.Mappings {
			say("mapping %+v", m)
		}
	}
	spaces := []string{""}
	for netns := range n.Linux.Namespaces() {
		spaces = append(spaces, netns)
	}
	for _, netns := range spaces {
		var of []string
		for l := range n.Linux.Links(netns) {
			of = append(of, fmt.Sprintf("link %+v of Linux %s", l, netns))
		}
		for r := range n.Linux.Routes(netns) {
			of = append(of, fmt.Sprintf("route %+v of Linux %s", r, netns))
		}
		slices.SortFunc(of, strings.Compare)
		lines = append(lines, of...)
	}
	return lines
}

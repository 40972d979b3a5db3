// Package placement is the scheduler of labs: a pod goes to the node with the fewest pods that stay, as the simulator's
// scheduler has it.
//
// It is a function of pods and nodes. Start at Place.
package placement

import (
	"cmp"

	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Place says where each pod goes that has no node and stays, "" for nowhere; oldest pods come first. nodes are those
// that take pods, each at most so many. Pods that are being deleted take room, and do not make a node less wanted.
func Place(pods []timeline.Pod, nodes []string, most int) []string {
	count, staying := map[string]int{}, map[string]int{}
	type group struct{ node, app string }
	bounded := map[group]int{} // pods of an app that have a bound
	take := func(p timeline.Pod, node string) {
		count[node]++
		if !p.Deleting {
			staying[node]++
		}
		if p.MaxPerNode > 0 {
			bounded[group{node, p.App}]++
		}
	}
	for _, p := range pods {
		if p.Node != "" {
			take(p, p.Node)
		}
	}
	placed := make([]string, len(pods))
	for i, p := range pods {
		if p.Node != "" || p.Deleting {
			continue
		}
		best := ""
		for _, n := range nodes {
			if count[n] >= most || p.MaxPerNode > 0 && bounded[group{n, p.App}] >= p.MaxPerNode {
				continue
			}
			if best == "" || cmp.Or(cmp.Compare(staying[n], staying[best]), cmp.Compare(n, best)) < 0 {
				best = n
			}
		}
		if placed[i] = best; best != "" {
			take(p, best)
		}
	}
	return placed
}

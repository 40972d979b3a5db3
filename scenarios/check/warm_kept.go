package check

import "github.com/vppdrill/vppdrill/scenarios"

const warmKeptName = "warm-kept"

// warmKept: what the configuration has a node keep ready for pods to come is there, and what it does not need is given back. It is judged
// when there was ample time for both.
func warmKept() scenarios.Law {
	return scenarios.Law{
		Name:  warmKeptName,
		Why:   "A pool that does not grow makes the next pods wait for the cloud; one that never shrinks takes the subnet's addresses from all other nodes.",
		When:  scenarios.Settled,
		Needs: []scenarios.Evidence{scenarios.WarmTargets, scenarios.BlockedBlocks},
		Check: checkWarmKept,
	}
}

func checkWarmKept(s scenarios.Snapshot) (occasions int64, err error) {
	if !s.Settled {
		return 0, nil
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || !n.AgentUp {
			continue
		}
		for _, w := range n.Warm {
			occasions++
			if err := judgeWarm(s, n, w); err != nil {
				return occasions, err
			}
		}
	}
	return occasions, nil
}

func judgeWarm(s scenarios.Snapshot, n *scenarios.NodeState, w scenarios.Warm) error {
	of := ""
	if w.Pool != "" {
		of = " of pool " + w.Pool
	}
	switch {
	case w.Free < w.LeastFree:
		return broken(warmKeptName, s.At, n.Name, "%s has %d free addresses%s of the %d that it is to keep ready: look at what makes its pool grow", n.Name, w.Free, of, w.LeastFree)
	case w.Idle < w.LeastIdle:
		return broken(warmKeptName, s.At, n.Name, "%s has %d unused blocks%s of the %d that it is to keep ready: look at what makes its pool grow", n.Name, w.Idle, of, w.LeastIdle)
	case w.Idle > w.MostIdle+len(n.Blocked): // what the node cannot use yet it cannot do without either
		return broken(warmKeptName, s.At, n.Name, "%s keeps %d unused blocks%s and needs %d: look at what gives blocks back", n.Name, w.Idle, of, w.MostIdle)
	case w.Empty > 0:
		return broken(warmKeptName, s.At, n.Name, "%s keeps %d interfaces without a block: look at what gives interfaces back", n.Name, w.Empty)
	}
	return nil
}

package check

import (
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const cloudRoutesName = "cloud-routes"

// cloudRoutes: in a cloud's network a node that the scheduler may use has a route to each of its assigned blocks, and a
// route that is not the cluster's stays.
//
// It is judged in a settled cluster: a route controller learns of a loss a pass later.
func cloudRoutes() fact.Law {
	return fact.Law{
		Name: cloudRoutesName,
		Rule: "A node that may get pods has a route of the cloud's network to each of its blocks, and others' routes stay.",
		Why: "Without a route the cloud drops packets to a node's pods, though the node looks ready; and a route of another " +
			"cluster that is deleted takes that one's pods off the network.",
		When:    fact.Settled,
		Foreign: true,
		Needs:   []fact.Evidence{fact.CloudRoutes, fact.AssignedBlocks},
		Check:   checkCloudRoutes,
	}
}

func checkCloudRoutes(s fact.Snapshot) (occasions int64, err error) {
	if !s.Settled || s.Fabric == nil {
		return 0, nil
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if unavailable, registered := s.Fabric.Unavailable[n.Name]; unavailable || !registered {
			continue
		}
		for _, b := range n.Assigned {
			occasions++
			r, _ := s.Fabric.Route(b.Prefix.Addr())
			if r.Destination != b.Prefix || r.Node != n.Name {
				return occasions, broken(cloudRoutesName, s.At, n.Name,
					"%s may get pods, and the cloud's network has no route to its block %s: check what the route controller says of its condition NetworkUnavailable",
					n.Name, b.Prefix)
			}
		}
	}
	for _, r := range s.Fabric.Others {
		occasions++
		if !slices.Contains(s.Fabric.Routes, r) {
			return occasions, broken(cloudRoutesName, s.At, "", "route %s to %s is not the cluster's, and gone: check which routes the route controller takes for its own",
				r.Name, r.Destination)
		}
	}
	return occasions, nil
}

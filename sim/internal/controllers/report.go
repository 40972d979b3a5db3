package controllers

import (
	"time"

	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// reportEvery is how often a kubelet writes its Node object's status where nothing of it has changed
// (nodeStatusReportFrequency).
const reportEvery = 5 * time.Minute

// report has the kubelet of a node without a pod CIDR write its Node object's status after a while, and again until it
// has one. Kubelets of other nodes do so too, but nothing waits for them, and a thousand would cost events. A cloud's
// controllers give up on a node whose write failed until its object is written again.
func (s *rangeSystem) report(n *cluster.Node) {
	name, uid := n.Name, n.UID
	s.env.Clock.After(reportEvery, &step{name, "kubelet reports the node's status", func() {
		now, ok := s.env.Cluster.API.Node(name)
		if !ok || now.UID != uid || len(now.PodCIDRs) > 0 {
			return
		}
		if s.env.Cluster.Alive(name) {
			// without an API server the next report is in time
			_ = s.env.Cluster.API.SetNode(name, uid, func(n *cluster.Node) { n.Touches++ })
		}
		s.report(now)
	}})
}

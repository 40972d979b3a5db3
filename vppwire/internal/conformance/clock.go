package conformance

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// clocks are lines about clocks that are wrong: this machine's, and those of ready nodes, by which kubelets renew their
// leases. They break no law of the network.
func (r *run) clocks(ctx context.Context) (notes []string) {
	leases, err := r.Connection.Client().CoordinationV1().Leases(v1.NamespaceNodeLease).List(ctx, metav1.ListOptions{})
	server, wrong := r.Connection.ServerTime()
	if wrong != "" {
		notes = append(notes, wrong)
	}
	if err != nil {
		return append(notes, "not judged: the clocks of nodes: list leases: "+err.Error())
	}
	for i := range leases.Items {
		l := &leases.Items[i]
		if l.Spec.RenewTime == nil || !slices.Contains(r.nodes, l.Name) {
			continue
		}
		if line := kube.NodeClock(l.Name, l.Spec.RenewTime.Time, server); line != "" {
			notes = append(notes, line)
		}
	}
	return notes
}

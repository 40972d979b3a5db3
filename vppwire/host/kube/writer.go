package kube

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// otherWriters are the programs with a node IPAM controller of their own, by the names under which servers keep what
// they have written.
var otherWriters = []string{"kube-controller-manager", "cloud-controller-manager"}

// mendWriter has the controller manager give no pod CIDRs.
const mendWriter = "start it with --allocate-node-cidrs=false, in kubeadm's clusters on each control plane by " +
	"`sed -i s/--allocate-node-cidrs=true/--allocate-node-cidrs=false/ /etc/kubernetes/manifests/kube-controller-manager.yaml`"

// writers see whether somebody else gives nodes their pod CIDRs since a term began. What nodes had before is no matter:
// it may be of a time when that one did so alone. People, and whoever else makes nodes with pod CIDRs, may do that.
type writers struct {
	mu sync.Mutex
	// judged are the nodes whose pod CIDRs were there before, or are known to be nobody else's; nil before the first list.
	judged map[types.UID]bool
}

// list takes every node that exists; the first one says what was there before.
func (w *writers) list(nodes []*v1.Node) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.judged != nil {
		for _, n := range nodes {
			if err := w.judge(n); err != nil {
				return err
			}
		}
		return nil
	}
	w.judged = map[types.UID]bool{}
	for _, n := range nodes {
		w.judged[n.UID] = len(n.Spec.PodCIDRs) > 0
	}
	return nil
}

// node takes one that is new or has changed.
func (w *writers) node(n *v1.Node) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.judge(n)
}

// judge is called with w.mu held.
func (w *writers) judge(n *v1.Node) error {
	if len(n.Spec.PodCIDRs) == 0 || w.judged[n.UID] {
		return nil
	}
	w.judged[n.UID] = true
	if who := podCIDRWriter(n); who != "" {
		return fmt.Errorf("%w: %s has given node %s its pod CIDR %s since this one began: %s", ErrRival, who, n.Name, n.Spec.PodCIDRs[0], mendWriter)
	}
	return nil
}

// gone forgets a node.
func (w *writers) gone(n *v1.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.judged, n.UID)
}

// podCIDRWriter is who of otherWriters has written a node's pod CIDRs, empty for none of them.
func podCIDRWriter(n *v1.Node) string {
	for _, m := range n.ManagedFields {
		if m.Operation != metav1.ManagedFieldsOperationUpdate || m.FieldsV1 == nil || !slices.Contains(otherWriters, m.Manager) {
			continue
		}
		var fields struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if err := json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields); err == nil && fields.Spec["f:podCIDRs"] != nil {
			return m.Manager
		}
	}
	return ""
}

// watching is a sink whose nodes w sees first; end is told when somebody else writes them.
func (w *writers) watching(to sink[*v1.Node], end func(error)) sink[*v1.Node] {
	listed, put, gone := to.listed, to.put, to.gone
	to.listed = func(list []*v1.Node) {
		if err := w.list(list); err != nil {
			end(err)
		}
		listed(list)
	}
	to.put = func(n *v1.Node, added bool) {
		if err := w.node(n); err != nil {
			end(err)
		}
		put(n, added)
	}
	to.gone = func(n *v1.Node) { w.gone(n); gone(n) }
	return to
}

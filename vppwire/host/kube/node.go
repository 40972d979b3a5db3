package kube

import (
	"crypto/rand"
	"encoding/json"
	"net/netip"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// TouchAnnotation is written on nodes without pod CIDRs by each new leader. Its value means nothing and is new each
// time: a write that changes nothing would leave the resourceVersion as it is.
const TouchAnnotation = "vppdrill/node-ipam-touched"

// kubeNode is what controllers look at of a Node. It shares the object's maps and slices, which nobody changes.
func kubeNode(n *v1.Node) nodeipam.KubeNode {
	k := nodeipam.KubeNode{
		Name: n.Name, UID: string(n.UID), ResourceVersion: n.ResourceVersion, Labels: n.Labels,
		PodCIDR: n.Spec.PodCIDR, PodCIDRs: n.Spec.PodCIDRs, ProviderID: n.Spec.ProviderID,
		Deleting: n.DeletionTimestamp != nil,
	}
	for _, c := range n.Status.Conditions {
		if c.Type == v1.NodeNetworkUnavailable {
			k.NetworkUnavailable = nodeipam.ConditionStatus(c.Status)
		}
	}
	for _, taint := range n.Spec.Taints {
		k.NetworkTaint = k.NetworkTaint || taint.Key == v1.TaintNodeNetworkUnavailable
	}
	return k
}

// patch is a PATCH's body and what kind it is of.
type patch struct {
	kind types.PatchType
	body []byte
}

// identity is the part of a PATCH that another object, or a later version of it, refuses.
type identity struct {
	UID             string            `json:"uid,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

func touchPatch(e nodeipam.TouchNode) patch {
	return newPatch(types.MergePatchType, struct {
		Metadata identity `json:"metadata"`
	}{identity{e.UID, e.ResourceVersion, map[string]string{TouchAnnotation: rand.Text()}}})
}

func cidrPatch(e nodeipam.PatchNodeCIDRs) patch {
	return cidrPatchOf(identity{UID: e.UID, ResourceVersion: e.ResourceVersion}, e.CIDRs)
}

func cidrPatchOf(of identity, cidrs []netip.Prefix) patch {
	type spec struct {
		PodCIDR  netip.Prefix   `json:"podCIDR"`
		PodCIDRs []netip.Prefix `json:"podCIDRs"`
	}
	return newPatch(types.StrategicMergePatchType, struct {
		Metadata identity `json:"metadata"`
		Spec     spec     `json:"spec"`
	}{of, spec{cidrs[0], cidrs}})
}

// conditionPatch sets the condition NetworkUnavailable, of the object with a UID where one is given; in a strategic merge
// patch the other conditions stay. Reasons are upstream's.
func conditionPatch(uid string, is v1.ConditionStatus, reason, message string, now time.Time) patch {
	type status struct {
		Conditions []v1.NodeCondition `json:"conditions"`
	}
	return newPatch(types.StrategicMergePatchType, struct {
		Metadata identity `json:"metadata,omitzero"`
		Status   status   `json:"status"`
	}{identity{UID: uid}, status{[]v1.NodeCondition{{
		Type: v1.NodeNetworkUnavailable, Status: is, Reason: reason, Message: message,
		LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
	}}}})
}

func newPatch(kind types.PatchType, body any) patch {
	text, err := json.Marshal(body)
	if err != nil {
		panic("kube: " + err.Error()) // strings and prefixes only
	}
	return patch{kind, text}
}

// IsNodeName reports whether a Node object may have this name: that of a DNS subdomain in lower case.
func IsNodeName(name string) bool { return len(validation.IsDNS1123Subdomain(name)) == 0 }

package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Keys of facts, below the prefix.
const (
	nodesKey = "nodes/"
	podsKey  = "pods/"
	poolsKey = "pools"
	// servicesKey and slicesKey are followed by a namespace and a name.
	servicesKey = "services/"
	slicesKey   = "slices/"
	// policiesKey and peersKey are followed by a namespace and a name, namespacesKey by a name: what policies select.
	policiesKey   = "policies/"
	peersKey      = "peers/"
	namespacesKey = "namespaces/"
)

// Node is the value of nodes/NAME: what a Kubernetes Node object says, as far as agents care.
type Node struct {
	// UID tells a node from an earlier one of the same name; not empty.
	UID string `json:"uid"`
	// PodCIDRs is spec.podCIDRs, for external IPAM.
	PodCIDRs []netip.Prefix `json:"podCIDRs,omitempty"`
	// Addresses are the node's addresses outside of VPP, in order.
	Addresses []netip.Addr `json:"addresses,omitempty"`
	// Zone is the one that the node is in, for hints of slices; empty where that does not matter.
	Zone string `json:"zone,omitempty"`
}

// PutNode writes a node; DeleteNode takes it away. For those who play the cluster's control plane.
func (c *Client) PutNode(ctx context.Context, name string, n Node) error {
	return c.put(ctx, nodesKey+name, n)
}

// DeleteNode takes a node away; one that does not exist is no error.
func (c *Client) DeleteNode(ctx context.Context, name string) error {
	_, err := c.etcd.Delete(ctx, c.prefix+nodesKey+name)
	return err
}

// RegisterNode writes a node unless one of the name exists.
func (c *Client) RegisterNode(ctx context.Context, name string, n Node) error {
	value, err := json.Marshal(n)
	if err != nil {
		return err
	}
	key := c.prefix + nodesKey + name
	_, err = c.etcd.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).Then(clientv3.OpPut(key, string(value))).Commit()
	return err
}

// PutPod says that a pod is bound to a node; DeletePod that it exists no more.
func (c *Client) PutPod(ctx context.Context, node, uid string) error {
	return c.put(ctx, podsKey+node+"/"+uid, struct{}{})
}

// DeletePod takes a pod away; one that does not exist is no error.
func (c *Client) DeletePod(ctx context.Context, node, uid string) error {
	_, err := c.etcd.Delete(ctx, c.prefix+podsKey+node+"/"+uid)
	return err
}

// PutPools changes the address ranges.
func (c *Client) PutPools(ctx context.Context, p agent.PublishedPools) error {
	return c.put(ctx, poolsKey, p)
}

func (c *Client) put(ctx context.Context, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = c.etcd.Put(ctx, c.prefix+key, string(text))
	return err
}

// parseNode reads a node's value.
func parseNode(name string, value []byte) (agent.NodeSeen, error) {
	var n Node
	if err := json.Unmarshal(value, &n); err != nil {
		return agent.NodeSeen{}, fmt.Errorf("node %q: %w", name, err)
	}
	if name == "" || n.UID == "" {
		return agent.NodeSeen{}, fmt.Errorf("node %q: name and uid are needed", name)
	}
	seen := agent.NodeSeen{Name: name, UID: n.UID, PodCIDRs: n.PodCIDRs, Addresses: n.Addresses, Zone: n.Zone}
	for i, p := range n.PodCIDRs {
		if !p.IsValid() {
			return agent.NodeSeen{}, fmt.Errorf("node %q: podCIDRs[%d] is empty", name, i)
		}
	}
	for i, a := range n.Addresses {
		if !a.IsValid() || a.Zone() != "" {
			return agent.NodeSeen{}, fmt.Errorf("node %q: addresses[%d] %q is no address of a machine", name, i, a)
		}
	}
	return seen, nil
}

// fact is one key below the prefix, parted.
func (c *Client) fact(key []byte) (kind, rest string) {
	name := strings.TrimPrefix(string(key), c.prefix)
	for _, kind := range [...]string{nodesKey, podsKey, servicesKey, slicesKey, policiesKey, peersKey, namespacesKey} {
		if rest, ok := strings.CutPrefix(name, kind); ok {
			return kind, rest
		}
	}
	if name == poolsKey {
		return poolsKey, ""
	}
	return "", name
}

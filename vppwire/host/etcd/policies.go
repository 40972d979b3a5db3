package etcd

import (
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// selectableKeys are the keys of policies, pods and namespaces, by policy.Kind.
var selectableKeys = [...]string{policy.Policies: policiesKey, policy.Pods: peersKey, policy.Namespaces: namespacesKey}

// PutPolicy writes policies/NAMESPACE/NAME, PutPeer peers/NAMESPACE/NAME, PutNamespace namespaces/NAME. For those who
// play the cluster's control plane.
func (c *Client) PutPolicy(ctx context.Context, p policy.Policy) error {
	return c.put(ctx, policiesKey+p.Name.String(), p)
}

// PutPeer is described at PutPolicy.
func (c *Client) PutPeer(ctx context.Context, p policy.Pod) error {
	return c.put(ctx, peersKey+p.Name.String(), p)
}

// PutNamespace is described at PutPolicy.
func (c *Client) PutNamespace(ctx context.Context, n policy.Namespace) error {
	return c.put(ctx, namespacesKey+n.Name, n)
}

// DeleteSelectable takes a policy, pod or namespace away; one that does not exist is no error.
func (c *Client) DeleteSelectable(ctx context.Context, k policy.Kind, n policy.Name) error {
	key := selectableKeys[k] + n.String()
	if k == policy.Namespaces {
		key = selectableKeys[k] + n.Name
	}
	_, err := c.etcd.Delete(ctx, c.prefix+key)
	return err
}

// selectableFact is one key as an event; a value that cannot be read is told as gone, and a policy that cannot be read
// selects every pod of its namespace and allows nothing.
func (c *Client) selectableFact(kv *mvccpb.KeyValue, deleted bool) (agent.Event, error) {
	kind, rest := c.fact(kv.Key)
	if kind == namespacesKey {
		n := policy.Namespace{}
		gone := agent.SelectableGone{Kind: policy.Namespaces, Name: policy.Name{Name: rest}}
		if deleted {
			return gone, nil
		}
		if err := json.Unmarshal(kv.Value, &n); err != nil {
			return gone, fmt.Errorf("namespace %s: %w", rest, err)
		}
		n.Name = rest
		return agent.NamespaceSeen{Namespace: n}, nil
	}
	name, ok := serviceName(rest)
	if !ok {
		return nil, fmt.Errorf("key %q: want NAMESPACE/NAME", kv.Key)
	}
	if kind == peersKey {
		p := policy.Pod{}
		gone := agent.SelectableGone{Kind: policy.Pods, Name: name}
		if deleted {
			return gone, nil
		}
		if err := json.Unmarshal(kv.Value, &p); err != nil {
			return gone, fmt.Errorf("pod %s: %w", name, err)
		}
		p.Name = name
		return agent.PeerSeen{Pod: p}, nil
	}
	p := policy.Policy{}
	if deleted {
		return agent.SelectableGone{Kind: policy.Policies, Name: name}, nil
	}
	if err := json.Unmarshal(kv.Value, &p); err != nil {
		return agent.PolicySeen{Policy: policy.Policy{Name: name, Ingress: true, Egress: true}}, fmt.Errorf("policy %s closes its namespace, as it cannot be read: %w", name, err)
	}
	p.Name = name
	return agent.PolicySeen{Policy: p}, nil
}

func (f *Cluster) selectable(tell func(agent.Event), kv *mvccpb.KeyValue, deleted bool) {
	ev, err := f.c.selectableFact(kv, deleted)
	if err != nil {
		f.c.log.Warn("etcd: a fact for network policies", "error", err)
	}
	if ev != nil {
		tell(ev)
	}
}

// selectables tells everything of a list, and then the names of what there is.
func (f *Cluster) selectables(tell func(agent.Event), k policy.Kind, kvs []*mvccpb.KeyValue) {
	var names []policy.Name
	for _, kv := range kvs {
		f.selectable(func(ev agent.Event) {
			switch e := ev.(type) {
			case agent.PolicySeen:
				names = append(names, e.Policy.Name)
			case agent.PeerSeen:
				names = append(names, e.Pod.Name)
			case agent.NamespaceSeen:
				names = append(names, policy.Name{Name: e.Namespace.Name})
			}
			tell(ev)
		}, kv, false)
	}
	tell(agent.SelectablesListed{Kind: k, Names: names})
}

// watchSelectables joins the watches of the three kinds. One that ends is told as canceled.
func (f *Cluster) watchSelectables(ctx context.Context, from clientv3.OpOption) <-chan clientv3.WatchResponse {
	all := make(chan clientv3.WatchResponse)
	for _, key := range selectableKeys {
		watch := f.c.etcd.Watch(ctx, f.c.prefix+key, clientv3.WithPrefix(), from)
		go func() {
			for ok := true; ok; {
				var w clientv3.WatchResponse
				if w, ok = <-watch; !ok {
					w.Canceled = true
				}
				select {
				case all <- w:
				case <-ctx.Done():
					ok = false
				}
			}
		}()
	}
	return all
}

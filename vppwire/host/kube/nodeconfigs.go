package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// contiv's custom resource for what is special about a node: its name is the node's. fixtures/kubernetes/base/crd.yaml
// defines it.
const (
	NodeConfigGroup    = "nodeconfig.contiv.vpp"
	NodeConfigVersion  = "v1"
	NodeConfigResource = "nodeconfigs"
	// NodeConfigsPath is where the server has them.
	NodeConfigsPath = "/apis/" + NodeConfigGroup + "/" + NodeConfigVersion + "/" + NodeConfigResource
)

// NodeConfigs are the NodeConfig resources at one moment, in order of nodes. Bad are those that cannot be read, by
// node, with the reason: nobody knows what they say, and what was known of their nodes stays.
type NodeConfigs struct {
	List []agent.NodeConfig
	Bad  map[string]error
}

// NodeConfigs lists them once. Where the server does not serve them there are none.
func (c *Connection) NodeConfigs(ctx context.Context) (NodeConfigs, error) {
	ctx, cancel := context.WithTimeout(logged(ctx, c.log), answerTime)
	defer cancel()
	list, err := custom{c.client, NodeConfigsPath}.List(ctx, metav1.ListOptions{})
	if statusCode(err) == http.StatusNotFound {
		return NodeConfigs{}, nil
	}
	if err != nil {
		return NodeConfigs{}, err
	}
	all := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		all[list.Items[i].GetName()] = &list.Items[i]
	}
	return readNodeConfigs(all), nil
}

// FollowNodeConfigs tells all of them, and all again after each change and each gap, from one goroutine until ctx ends.
func (c *Connection) FollowNodeConfigs(ctx context.Context, tell func(NodeConfigs)) {
	all := map[string]*unstructured.Unstructured{}
	follow(logged(ctx, c.log), c.client, custom{c.client, NodeConfigsPath}, "", &unstructured.Unstructured{}, sink[*unstructured.Unstructured]{
		listed: func(objects []*unstructured.Unstructured) {
			clear(all)
			for _, u := range objects {
				all[u.GetName()] = u
			}
			tell(readNodeConfigs(all))
		},
		put:  func(u *unstructured.Unstructured, _ bool) { all[u.GetName()] = u; tell(readNodeConfigs(all)) },
		gone: func(u *unstructured.Unstructured) { delete(all, u.GetName()); tell(readNodeConfigs(all)) },
	})
}

func readNodeConfigs(all map[string]*unstructured.Unstructured) NodeConfigs {
	out := NodeConfigs{Bad: map[string]error{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, err := specOf(all[name])
		var spec agent.NodeConfigSpec
		if err == nil {
			spec, err = agent.ParseNodeConfigSpec(text)
		}
		if err != nil {
			out.Bad[name] = fmt.Errorf("NodeConfig %s: %w", name, err)
			continue
		}
		out.List = append(out.List, agent.NodeConfig{NodeName: name, NodeConfigSpec: spec})
	}
	return out
}

// specOf is an object's spec as JSON; null where it has none.
func specOf(u *unstructured.Unstructured) ([]byte, error) { return json.Marshal(u.Object["spec"]) }

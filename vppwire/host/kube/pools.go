package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// PoolsKey is the key of the ConfigMap's data that holds Pools as JSON.
const PoolsKey = "pools"

// Pools are the address ranges of the cluster.
type Pools struct {
	// Generation grows with each change and begins at 1: agents keep it, so it must outlive the ConfigMap.
	Generation int64             `json:"generation"`
	IPAMConfig contiv.IPAMConfig `json:"ipamConfig"`
}

// ParsePools reads the ranges as agents are told them.
func ParsePools(text string) (agent.Pools, error) {
	var p Pools
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return agent.Pools{}, fmt.Errorf("pools: %w", err)
	}
	if p.Generation < 1 {
		return agent.Pools{}, fmt.Errorf("pools: generation %d: want 1 or more", p.Generation)
	}
	cfg := agent.Config{IPAMConfig: p.IPAMConfig}
	pools, ok, err := cfg.Pools()
	if err != nil {
		return agent.Pools{}, fmt.Errorf("pools: %w", err)
	}
	if !ok {
		return agent.Pools{}, errors.New("pools: ipamConfig is empty")
	}
	pools.Generation = p.Generation
	return pools, nil
}

// followPools tells the ranges. A ConfigMap that is gone or cannot be read changes nothing.
func (f *Facts) followPools(ctx context.Context, say func(...agent.Event)) {
	put := func(m *v1.ConfigMap) {
		pools, err := ParsePools(m.Data[PoolsKey])
		if err != nil {
			f.cfg.Log.Warn("left alone", "configmap", m.Namespace+"/"+m.Name, "error", err)
			return
		}
		say(agent.PoolsChanged{Pools: pools})
	}
	maps := f.cfg.Client.CoreV1().ConfigMaps(f.cfg.PoolsNamespace)
	selector := fields.OneTermEqualSelector("metadata.name", f.cfg.PoolsName).String()
	follow(ctx, f.cfg.Client, maps, selector, &v1.ConfigMap{}, sink[*v1.ConfigMap]{
		listed: func(list []*v1.ConfigMap) {
			for _, m := range list {
				put(m)
			}
		},
		put:  func(m *v1.ConfigMap, _ bool) { put(m) },
		gone: func(*v1.ConfigMap) {},
	})
}

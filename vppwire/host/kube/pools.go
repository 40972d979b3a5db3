package kube

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// PoolsKey is the key of the ConfigMap's data that holds agent.PublishedPools.
const PoolsKey = "pools"

// followPools tells the ranges. A ConfigMap that is gone or cannot be read changes nothing.
func (f *Facts) followPools(ctx context.Context, say func(...agent.Event)) {
	put := func(m *v1.ConfigMap) {
		pools, err := agent.ParsePools([]byte(m.Data[PoolsKey]))
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

package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// PoolsKey is the key of the ConfigMap's data that holds agent.PublishedPools.
const PoolsKey = "pools"

// The custom resource of address ranges: its spec is the ipamConfig section. fixtures/kubernetes/base/crd.yaml defines
// it.
const (
	IPAMConfigResource = "ipamconfigs"
	// IPAMConfigsPath is where the server has them.
	IPAMConfigsPath = "/apis/" + Group + "/" + RecordVersion + "/" + IPAMConfigResource
)

// ReasonRangesRefused is the event about a node whose agent cannot take the ranges that were published.
const ReasonRangesRefused = "AddressRangesRefused"

// followPools tells the ranges, of a ConfigMap where a namespace is named and of an IPAMConfig where none is. What is
// gone or cannot be read changes nothing.
func (f *Facts) followPools(ctx context.Context, say func(...agent.Event)) {
	selector := fields.OneTermEqualSelector("metadata.name", f.cfg.PoolsName).String()
	var told int64 // the greatest generation
	tell := func(from string, pools agent.Pools, err error) {
		if err == nil && pools.Generation < told {
			err = fmt.Errorf("generation %d is below %d, which agents have: set generation to %d", pools.Generation, told, told+1)
		}
		if err != nil {
			f.refuse(from, err)
			return
		}
		told = pools.Generation
		say(agent.PoolsChanged{Pools: pools})
	}
	if f.cfg.PoolsNamespace == "" {
		follow(ctx, f.cfg.Client, custom{f.cfg.Client, IPAMConfigsPath}, selector, &unstructured.Unstructured{}, lastOf(func(u *unstructured.Unstructured) {
			pools, err := readIPAMConfig(u)
			tell("IPAMConfig "+u.GetName(), pools, err)
		}))
		return
	}
	maps := f.cfg.Client.CoreV1().ConfigMaps(f.cfg.PoolsNamespace)
	follow(ctx, f.cfg.Client, maps, selector, &v1.ConfigMap{}, lastOf(func(m *v1.ConfigMap) {
		pools, err := agent.ParsePools([]byte(m.Data[PoolsKey]))
		tell("ConfigMap "+m.Namespace+"/"+m.Name, pools, err)
	}))
}

// lastOf tells each state of the objects, whatever came before it.
func lastOf[T object](put func(T)) sink[T] {
	return sink[T]{
		listed: func(list []T) {
			for _, obj := range list {
				put(obj)
			}
		},
		put:  func(obj T, _ bool) { put(obj) },
		gone: func(T) {},
	}
}

// refuse says that what was published stays without effect.
func (f *Facts) refuse(from string, err error) {
	message := from + " is left alone, the ranges stay as they are: " + err.Error()
	f.cfg.Log.Warn(message)
	if f.cfg.Events != nil {
		f.cfg.Events(agent.Log{Level: int(slog.LevelWarn), Reason: ReasonRangesRefused, Message: message})
	}
}

// readIPAMConfig reads ranges. Their generation is the one that the spec names, and where it names none the object's
// own, which grows with each change of the spec and begins anew when the object is made anew.
func readIPAMConfig(u *unstructured.Unstructured) (agent.Pools, error) {
	text, err := specOf(u)
	if err != nil {
		return agent.Pools{}, err
	}
	var spec struct {
		Generation int64 `json:"generation"`
		contiv.IPAMConfig
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return agent.Pools{}, err
	}
	if spec.Generation == 0 {
		spec.Generation = u.GetGeneration()
	}
	if text, err = json.Marshal(agent.PublishedPools{Generation: spec.Generation, IPAMConfig: spec.IPAMConfig}); err != nil {
		return agent.Pools{}, err
	}
	return agent.ParsePools(text)
}

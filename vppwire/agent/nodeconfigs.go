package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// ParseNodeConfigSpec reads what a NodeConfig resource says of a node, in JSON with contiv's keys. A key that does not
// exist is an error.
func ParseNodeConfigSpec(text []byte) (NodeConfigSpec, error) {
	var s NodeConfigSpec
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // encoding/json takes keys in any case, as configuration files do
	return s, d.Decode(&s)
}

// Override gives nodes that resources speak of what those say, in the place of what the NodeConfig section says, by
// node and as a whole: the precedence of contiv's LoadNodeConfigFromCRD. A resource that Validate refuses is left out
// with its reason, and what before, the set that was taken last, says of its node stays. taken is what counts of the
// resources now, in order of nodes, refused why not, by node. cfg is left alone; defaults must have been applied.
func (cfg Config) Override(resources, before []NodeConfig) (now Config, taken []NodeConfig, refused map[string]error) {
	old := map[string]NodeConfig{}
	for _, n := range before {
		old[n.NodeName] = n
	}
	good := map[string]NodeConfig{}
	refused = map[string]error{}
	for _, n := range resources {
		alone := cfg
		alone.NodeConfig = []NodeConfig{n}
		err := alone.Validate()
		if err == nil {
			good[n.NodeName] = n
			continue
		}
		refused[n.NodeName] = err
		if last, ok := old[n.NodeName]; ok {
			good[n.NodeName] = last
		}
	}
	for _, name := range slices.Sorted(maps.Keys(good)) {
		taken = append(taken, good[name])
	}
	now = cfg
	now.NodeConfig = slices.Clone(taken)
	for _, n := range cfg.NodeConfig {
		if _, ok := good[n.NodeName]; !ok {
			now.NodeConfig = append(now.NodeConfig, n)
		}
	}
	return now, taken, refused
}

// ActsAs reports whether an agent of this configuration does the same as one of other, as far as the two differ by what
// is special about nodes: of its own node all counts, of others only the gateways, which no node gets as its own
// address.
func (cfg *Config) ActsAs(other *Config) bool {
	own := func(c *Config) NodeConfigSpec {
		if n := c.GetNodeConfig(c.NodeName); n != nil {
			return n.NodeConfigSpec
		}
		return NodeConfigSpec{}
	}
	gateways := func(c *Config) map[string]bool {
		set := map[string]bool{}
		for _, gw := range c.nodeGateways() {
			set[gw.String()] = true
		}
		return set
	}
	a, b := own(cfg), own(other)
	return sameSpec(a, b) && maps.Equal(gateways(cfg), gateways(other))
}

func sameSpec(a, b NodeConfigSpec) bool {
	if len(a.OtherVPPInterfaces) == 0 && len(b.OtherVPPInterfaces) == 0 { // absent and empty are one
		a.OtherVPPInterfaces, b.OtherVPPInterfaces = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// nodeConfigsFormat is the version of what MarshalNodeConfigs writes.
const nodeConfigsFormat = 1

type nodeConfigsFile struct {
	Version int          `json:"version"`
	Nodes   []NodeConfig `json:"nodes"`
}

// MarshalNodeConfigs is a set of resources as an agent keeps it for starts at which nobody tells it.
func MarshalNodeConfigs(list []NodeConfig) ([]byte, error) {
	return json.MarshalIndent(nodeConfigsFile{nodeConfigsFormat, list}, "", "  ")
}

// UnmarshalNodeConfigs reads what MarshalNodeConfigs has written.
func UnmarshalNodeConfigs(text []byte) ([]NodeConfig, error) {
	var f nodeConfigsFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	if f.Version != nodeConfigsFormat {
		return nil, fmt.Errorf("version %d is not %d", f.Version, nodeConfigsFormat)
	}
	return f.Nodes, nil
}

package agent

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// PublishedPools are the cluster's address ranges as a control plane publishes them to agents, in JSON.
type PublishedPools struct {
	// Generation grows with each change and begins at 1: agents keep it, so it must outlive wherever it is published.
	Generation int64             `json:"generation"`
	IPAMConfig contiv.IPAMConfig `json:"ipamConfig"`
}

// ParsePools reads what was published. It refuses a generation below 1 and ranges that no cluster can have.
func ParsePools(text []byte) (Pools, error) {
	var p PublishedPools
	if err := json.Unmarshal(text, &p); err != nil {
		return Pools{}, fmt.Errorf("pools: %w", err)
	}
	if p.Generation < 1 {
		return Pools{}, fmt.Errorf("pools: generation %d: want 1 or more", p.Generation)
	}
	cfg := Config{IPAMConfig: p.IPAMConfig}
	pools, ok, err := cfg.Pools()
	if err != nil {
		return Pools{}, fmt.Errorf("pools: %w", err)
	}
	if !ok {
		return Pools{}, errors.New("pools: ipamConfig is empty")
	}
	pools.Generation = p.Generation
	return pools, nil
}

package audit

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// keptHostLocal are the addresses of a pod CIDR that no pod gets: the first, the gateway's and the last.
const keptHostLocal = 3

// readNodeID reads this project's own records.
func readNodeID(o *Objects, one kubectl.Object) error {
	var spec struct{ Key, Record string }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	var record struct {
		Name        string
		PodNetworks []string `json:"pod_networks"`
		ReleasedAt  string   `json:"released_at"`
	}
	if !strings.HasPrefix(spec.Record, "{") {
		return nil // marks of the store's own
	}
	if err := json.Unmarshal([]byte(spec.Record), &record); err != nil {
		return fmt.Errorf("spec.record: %w", err)
	}
	if record.ReleasedAt != "" {
		return nil // its ID rests
	}
	cidrs, err := kubectl.Prefixes(record.PodNetworks)
	for _, p := range cidrs {
		o.hold(heldRange{node: record.Name, prefix: p, by: "node record " + spec.Key, source: vppdrill, whole: true,
			kept: keptHostLocal})
	}
	return err
}

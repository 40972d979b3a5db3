package scenarios

import (
	"strconv"
	"strings"
)

// Zones is how many zones a cluster's nodes lie in, by turns; 0 for none.
type Zones int

// Of is the zone of a node: zone-a of node-1, zone-b of node-2. Empty where there are none, and for a machine of another
// name, of which no cloud says where it is.
func (z Zones) Of(node string) string {
	text, named := strings.CutPrefix(node, "node-")
	n, err := strconv.Atoi(text)
	if z == 0 || !named || err != nil || n < 1 {
		return ""
	}
	return "zone-" + string(rune('a'+(n-1)%int(z)))
}

// distributes reports whether a service of the scenario has a traffic distribution, from the start or later.
func distributes(s *Scenario) bool {
	for _, svc := range s.everyService() {
		if svc.Distribution != "" {
			return true
		}
	}
	return false
}

// Distribution says which endpoints clients get while these are ready. The zero Distribution is all of them.
type Distribution string

// Distributions: Kubernetes' PreferSameZone, which was PreferClose, and PreferSameNode, of a Service's trafficDistribution.
const (
	SameZone Distribution = "prefer-same-zone"
	SameNode Distribution = "prefer-same-node"
)

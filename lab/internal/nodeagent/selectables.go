package nodeagent

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// Selectables are what has been told of network policies, pods and namespaces. A lab has one and so has each of its agents: those
// whose Lines are the same have heard the same, however much that is. The zero Selectables have heard of nothing. They are
// not safe for concurrent use.
type Selectables struct {
	kinds [3]map[policy.Name]uint64
	// sum is that of the objects' hashes, which does not depend on their order.
	sum uint64
}

// Seen takes an object as it is now.
func (s *Selectables) Seen(k policy.Kind, n policy.Name, value any) {
	s.Gone(k, n)
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%s %s: %v", k, n, err)) // they are made of strings, numbers and addresses
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %s", k, n, text)
	if s.kinds[k] == nil {
		s.kinds[k] = map[policy.Name]uint64{}
	}
	s.kinds[k][n] = h.Sum64()
	s.sum += h.Sum64()
}

// Gone takes an object away.
func (s *Selectables) Gone(k policy.Kind, n policy.Name) {
	s.sum -= s.kinds[k][n]
	delete(s.kinds[k], n)
}

// Listed says which objects of a kind exist: no others do.
func (s *Selectables) Listed(k policy.Kind, names []policy.Name) {
	exist := make(map[policy.Name]bool, len(names))
	for _, n := range names {
		exist[n] = true
	}
	for n := range maps.Keys(maps.Clone(s.kinds[k])) { //vppdrill:unordered each by itself
		if !exist[n] {
			s.Gone(k, n)
		}
	}
}

// Lines is one line, none for nothing.
func (s *Selectables) Lines() []string {
	if slices.IndexFunc(s.kinds[:], func(m map[policy.Name]uint64) bool { return len(m) > 0 }) < 0 {
		return nil
	}
	return []string{fmt.Sprintf("selected %d policies, %d pods, %d namespaces, %x", len(s.kinds[policy.Policies]), len(s.kinds[policy.Pods]), len(s.kinds[policy.Namespaces]), s.sum)}
}

package controllers

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios"
)

// gateway is what AWS VPC CNI's pods use: an address of no subnet, so that every address of a prefix is a pod's.
var gateway = netip.MustParseAddr("169.254.1.1")

// cloudSystem is AWS: every node is an EC2 instance whose ipamd keeps /28 prefixes or single addresses of the subnet warm.
type cloudSystem struct {
	*vpc
	daemons map[string]*ipamd // of living agents
	allocs  map[string]*datastore.Node
}

func newCloudSystem(env Env) (*cloudSystem, error) {
	v, err := newVPC(env)
	return &cloudSystem{vpc: v, daemons: make(map[string]*ipamd), allocs: make(map[string]*datastore.Node)}, err
}

func (s *cloudSystem) Allocator(node string) (ipam.NodeAllocator, error) {
	cooling := s.env.Plan.Datastore.Cooling
	if cooling == 0 {
		cooling = -1 // none at all
	}
	n, err := datastore.NewNode(datastore.NodeConfig{Cooling: cooling, Gateway: gateway})
	s.allocs[node] = n
	return n, err
}

func (*cloudSystem) Start() {}

func (s *cloudSystem) AgentUp(node string, side Side) {
	d := newIPAMD(s, node, side, s.allocs[node])
	s.daemons[node] = d
	d.soon()
}

func (s *cloudSystem) AgentDown(node string) {
	if d := s.daemons[node]; d != nil {
		d.dead = true
		delete(s.daemons, node)
	}
}

func (s *cloudSystem) Changed(node string) {
	if d := s.daemons[node]; d != nil {
		d.changed()
	}
}

func (*cloudSystem) Refused(string, ipam.Owner) {} // ipamd looks at its pool every 5 s

func (s *cloudSystem) Blocks(node string) ([]netip.Prefix, bool) {
	if d := s.daemons[node]; d != nil && d.manager.Ready() {
		return d.pool.Blocks(), true
	}
	return nil, true
}

func (*cloudSystem) LoseLeader(time.Duration, bool) error { return scenarios.ErrUnsupported }

// FreeBlock is not known: what an instance can have depends on its interfaces.
func (*cloudSystem) FreeBlock() bool { return false }

// Pending says what ipamds wait for.
func (s *cloudSystem) Pending() string {
	for _, name := range s.env.Cluster.Nodes() {
		if d := s.daemons[name]; d != nil {
			if why := d.pending(); why != "" {
				return name + ": " + why
			}
		}
	}
	return ""
}

package controllers

import (
	"errors"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// gateway is what AWS VPC CNI's pods use: an address of no subnet, so that every address of a prefix is a pod's.
var gateway = netip.MustParseAddr("169.254.1.1")

// cloudSystem is AWS: every node is an EC2 instance whose ipamd keeps /28 prefixes or single addresses of the subnet
// warm.
type cloudSystem struct {
	*vpc
	daemons map[string]*ipamd // of living agents
	allocs  map[string]*datastore.Node
	// trunks are the instances whose trunk is there or on its way: false is on its way. If the subnet is full, it waits
	// for other trunks to go, as its pods do that have nothing else to wait for; it is tried again all the same.
	trunks map[string]bool
}

func newCloudSystem(env Env) (System, error) {
	v, err := newVPC(env)
	return &cloudSystem{vpc: v, daemons: make(map[string]*ipamd), allocs: make(map[string]*datastore.Node), trunks: make(map[string]bool)}, err
}

func (s *cloudSystem) Allocator(node string) (ipam.NodeAllocator, error) {
	cooling := s.env.Plan.AddressRest()
	if cooling == 0 {
		cooling = -1 // none at all
	}
	n, err := datastore.NewNode(datastore.NodeConfig{Cooling: cooling, Gateway: gateway})
	s.allocs[node] = n
	return n, err
}

func (*cloudSystem) Start() {}

// trunkRetry is after how long AWS' controller of branch interfaces tries again.
const trunkRetry = 10 * time.Second

// trunk has that controller attach a trunk, as ipamd has asked for by a label of its Node.
func (s *cloudSystem) trunk(node string) {
	i := s.instances[node]
	if _, ok := s.trunks[node]; ok || i == nil {
		return
	}
	s.trunks[node] = false
	var try func()
	try = func() {
		if s.instances[node] != i {
			return // it was terminated
		}
		s.requests++
		if _, err := i.Attach(s.env.now(), nil, true); err != nil {
			var coded interface{ ErrorCode() string }
			s.trunks[node] = errors.As(err, &coded) && coded.ErrorCode() == ec2.CodeSubnetFull
			s.env.Clock.After(trunkRetry, &step{node, "trunk interface again", try})
			return
		}
		s.trunks[node] = true
	}
	s.env.Clock.After(changeTime+s.env.Plan.Datastore.AttachDelay, &step{node, "trunk interface attached", try})
}

// Leave implements System.
func (s *cloudSystem) Leave(node string) {
	delete(s.trunks, node)
	s.vpc.Leave(node)
}

func (s *cloudSystem) AgentUp(node string, side Side) {
	d := newIPAMD(s, node, side, s.allocs[node])
	s.daemons[node] = d
	d.start()
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

func (*cloudSystem) Tried(string, Attempt) {} // ipamd looks at its pool every 5 s

func (s *cloudSystem) Blocks(node string) ([]netip.Prefix, bool) {
	d := s.daemons[node]
	if d == nil {
		return nil, true
	}
	blocks, _ := d.machine.Blocks()
	return blocks, true
}

func (*cloudSystem) LoseLeader(scenarios.LoseLeader) error { return result.ErrUnsupported }

func (*cloudSystem) RestartController(scenarios.RestartController) error {
	return result.ErrUnsupported
}

// FreeBlock is not known: what an instance can have depends on its interfaces.
func (*cloudSystem) FreeBlock() bool { return false }

// Pending says what ipamds wait for.
func (s *cloudSystem) Pending() string {
	for _, name := range sortedNames(s.trunks) {
		if !s.trunks[name] {
			return name + ": its trunk interface is being attached"
		}
	}
	for _, name := range s.env.Cluster.Nodes() {
		if d := s.daemons[name]; d != nil {
			if why := d.pending(); why != "" {
				return name + ": " + why
			}
		}
	}
	return ""
}

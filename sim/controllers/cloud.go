package controllers

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// gateway is what AWS VPC CNI's pods use: an address of no subnet, so that every address of a prefix is a pod's.
var gateway = netip.MustParseAddr("169.254.1.1")

// cloudSystem is AWS: every node is an EC2 instance whose ipamd keeps /28 prefixes or single addresses of the subnet warm.
type cloudSystem struct {
	env    Env
	limits datastore.Limits
	subnet *ec2.Subnet
	// account throttles all nodes together; nil without a limit.
	account *ec2.Account
	// foreign are the parts of the subnet that somebody else uses.
	foreign   []netip.Prefix
	instances map[string]Cloud
	daemons   map[string]*ipamd // of living agents
	allocs    map[string]*datastore.Node
	requests  int64
}

func newCloudSystem(env Env) (*cloudSystem, error) {
	plan, err := env.Plan.Plan()
	if err != nil {
		return nil, err
	}
	limits, ok := datastore.LimitsOf(env.Plan.Datastore.InstanceType)
	if !ok {
		return nil, fmt.Errorf("no instance type %s", env.Plan.Datastore.InstanceType)
	}
	s := &cloudSystem{
		env: env, limits: limits, subnet: ec2.NewSubnet(plan.PodSubnet),
		instances: make(map[string]Cloud), daemons: make(map[string]*ipamd), allocs: make(map[string]*datastore.Node),
	}
	if rate := float64(env.Plan.Datastore.Requests); rate > 0 {
		s.account = ec2.NewAccount(env.now(), rate, 2*rate)
	}
	ranges, err := s.env.ranges()
	if err != nil {
		return nil, err
	}
	s.occupy(plan.PodSubnet, func(a netip.Addr) bool {
		return !slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Contains(a) })
	})
	return s, nil
}

// occupy takes free addresses of a prefix for somebody else, where taken says so.
func (s *cloudSystem) occupy(p netip.Prefix, taken func(netip.Addr) bool) {
	for a := p.Masked().Addr(); p.Contains(a); a = a.Next() {
		if taken(a) && s.subnet.Occupy(a) {
			s.foreign = append(s.foreign, netip.PrefixFrom(a, a.BitLen()))
		}
	}
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

// Join launches an instance.
func (s *cloudSystem) Join(node string) error {
	c := s.env.Plan.Datastore
	i, err := ec2.New(s.env.now(), ec2.Config{
		Limits: ec2.Limits(s.limits), Subnet: s.subnet, AttachDelay: c.AttachDelay, MetadataLag: c.MetadataLag, Account: s.account,
	})
	if err != nil {
		return fmt.Errorf("launch %s: %w", node, err)
	}
	s.instances[node] = newInstance(i, func(blocks []netip.Prefix) { s.env.Assigned(node, blocks) })
	if plant := s.env.Plant.Cloud; plant != nil {
		s.instances[node] = plant(node, s.instances[node])
	}
	return nil
}

// Leave terminates it.
func (s *cloudSystem) Leave(node string) {
	if i := s.instances[node]; i != nil {
		i.Terminate(s.env.now())
		delete(s.instances, node)
	}
}

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

// AddRange gives a part of the subnet back that somebody else used.
func (s *cloudSystem) AddRange(r netip.Prefix) error {
	s.foreign = slices.DeleteFunc(s.foreign, func(p netip.Prefix) bool {
		inside := r.Contains(p.Addr())
		if inside {
			s.subnet.Vacate(p.Addr())
		}
		return inside
	})
	return nil
}

// RemoveRange lets somebody else take what is free in a part of the subnet.
func (s *cloudSystem) RemoveRange(r netip.Prefix) error {
	s.occupy(space.Normal(r), func(netip.Addr) bool { return true })
	return nil
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

// Requests counts requests to EC2 that change something.
func (s *cloudSystem) Requests() int64 { return s.requests }

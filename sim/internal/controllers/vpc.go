package controllers

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// vpc is the part of AWS that does not depend on the client of EC2: every node is an instance in the subnet of its
// zone.
type vpc struct {
	env    Env
	limits datastore.Limits
	net    *ec2.Network
	// account throttles all nodes together; nil without a limit.
	account   *ec2.Account
	instances map[string]Cloud
	requests  int64
}

func newVPC(env Env) (*vpc, error) {
	plan, err := env.Plan.Plan()
	if err != nil {
		return nil, err
	}
	limits, ok := datastore.LimitsOf(env.Plan.Datastore.InstanceType)
	if !ok {
		return nil, fmt.Errorf("no instance type %s", env.Plan.Datastore.InstanceType)
	}
	s := &vpc{env: env, limits: limits, instances: make(map[string]Cloud)}
	if rate := float64(env.Plan.Datastore.Requests); rate > 0 {
		s.account = ec2.NewAccount(env.now(), rate, 2*rate)
	}
	ranges, err := s.env.ranges()
	if err != nil {
		return nil, err
	}
	var zones []ec2.ZoneConfig
	for _, z := range env.Plan.Datastore.Subnets {
		zones = append(zones, ec2.ZoneConfig(z))
	}
	s.net = ec2.NewNetwork(zones, plan.PodSubnet, ranges)
	return s, nil
}

// zoneOf is where a node is.
func (s *vpc) zoneOf(node string) ec2.Zone { return s.net.Zones[s.net.ZoneOf(node)] }

// Join launches an instance.
func (s *vpc) Join(node string) error {
	c, z := s.env.Plan.Datastore, s.zoneOf(node)
	i, err := ec2.New(s.env.now(), ec2.Config{
		Limits: ec2.Limits(s.limits), Subnet: z.Nodes, Pods: z.Pods, AttachDelay: c.AttachDelay, MetadataLag: c.MetadataLag, Account: s.account,
	})
	if full := (*ec2.APIError)(nil); errors.As(err, &full) && full.Code == ec2.CodeSubnetFull {
		return fmt.Errorf("launch %s: %w: %w", node, result.ErrNoMachine, err)
	}
	if err != nil {
		return fmt.Errorf("launch %s: %w", node, err)
	}
	s.instances[node] = newInstance(i, func(units []netip.Prefix) {
		if s.env.Plan.System == scenarios.Cilium { // whose nodes have the addresses of prefixes
			units = unitsOf(cilium.AddressesOf(units...))
		}
		s.env.Assigned(node, units)
	})
	if plant := s.env.Plant.Cloud; plant != nil {
		s.instances[node] = plant(node, s.instances[node])
	}
	return nil
}

// Leave terminates it.
func (s *vpc) Leave(node string) {
	if i := s.instances[node]; i != nil {
		i.Terminate(s.env.now())
		delete(s.instances, node)
	}
}

// AddRange gives back a part of the subnet that another user held.
func (s *vpc) AddRange(r netip.Prefix) error {
	s.net.Vacate(r)
	return nil
}

// RemoveRange lets another user take the free addresses of a part of the subnet.
func (s *vpc) RemoveRange(r netip.Prefix) error {
	s.net.Occupy(space.Normal(r))
	return nil
}

// Requests counts requests to EC2 that change something, and writes of resources where there are any.
func (s *vpc) Requests() int64 { return s.requests }

package controllers

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// zone has a subnet for instances and, the same without custom networking, one for pods.
type zone struct{ nodes, pods *ec2.Subnet }

// vpc is the part of AWS that does not depend on the client of EC2: every node is an instance in the subnet of its
// zone.
type vpc struct {
	env    Env
	limits datastore.Limits
	zones  []zone
	// account throttles all nodes together; nil without a limit.
	account *ec2.Account
	// foreign are the parts of the subnet that other users hold.
	foreign   []netip.Prefix
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
	s := &vpc{env: env, limits: limits, zones: zonesOf(env.Plan.Datastore, plan.PodSubnet), instances: make(map[string]Cloud)}
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

// occupy takes free addresses of a prefix for another user, where taken says so.
func (s *vpc) occupy(p netip.Prefix, taken func(netip.Addr) bool) {
	for a := p.Masked().Addr(); p.Contains(a); a = a.Next() {
		if taken(a) && slices.ContainsFunc(s.zones, func(z zone) bool { return z.pods.Occupy(a) }) {
			s.foreign = append(s.foreign, netip.PrefixFrom(a, a.BitLen()))
		}
	}
}

// zonesOf are the zones of a configuration; without any, pods are one subnet.
func zonesOf(c scenarios.DatastoreIPAM, pods netip.Prefix) (list []zone) {
	for _, s := range c.Subnets {
		z := zone{nodes: ec2.NewSubnet(s.CIDR)}
		if z.pods = z.nodes; s.Pods.IsValid() {
			z.pods = ec2.NewSubnet(s.Pods)
		}
		for _, t := range s.Taken {
			for a := t.Addr(); t.Contains(a); a = a.Next() {
				z.pods.Occupy(a)
			}
		}
		list = append(list, z)
	}
	if len(list) == 0 {
		one := ec2.NewSubnet(pods)
		list = []zone{{one, one}}
	}
	return list
}

// zoneOf is where a node is: by turns, by its number, so that one that comes again is where it was.
func (s *vpc) zoneOf(node string) zone {
	digits := node[strings.LastIndexByte(node, '-')+1:]
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		n = 1
	}
	return s.zones[(n-1)%len(s.zones)]
}

// Join launches an instance.
func (s *vpc) Join(node string) error {
	c, z := s.env.Plan.Datastore, s.zoneOf(node)
	i, err := ec2.New(s.env.now(), ec2.Config{
		Limits: ec2.Limits(s.limits), Subnet: z.nodes, Pods: z.pods, AttachDelay: c.AttachDelay, MetadataLag: c.MetadataLag, Account: s.account,
	})
	if full := (*ec2.APIError)(nil); errors.As(err, &full) && full.Code == ec2.CodeSubnetFull {
		return fmt.Errorf("launch %s: %w: %w", node, result.ErrNoMachine, err)
	}
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
func (s *vpc) Leave(node string) {
	if i := s.instances[node]; i != nil {
		i.Terminate(s.env.now())
		delete(s.instances, node)
	}
}

// AddRange gives back a part of the subnet that another user held.
func (s *vpc) AddRange(r netip.Prefix) error {
	s.foreign = slices.DeleteFunc(s.foreign, func(p netip.Prefix) bool {
		inside := r.Contains(p.Addr())
		if inside {
			for _, z := range s.zones {
				z.pods.Vacate(p.Addr())
			}
		}
		return inside
	})
	return nil
}

// RemoveRange lets another user take the free addresses of a part of the subnet.
func (s *vpc) RemoveRange(r netip.Prefix) error {
	s.occupy(space.Normal(r), func(netip.Addr) bool { return true })
	return nil
}

// Requests counts requests to EC2 that change something, and writes of resources where there are any.
func (s *vpc) Requests() int64 { return s.requests }

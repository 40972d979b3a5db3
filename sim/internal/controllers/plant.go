package controllers

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// Plant wraps parts of a System so that a fault is back that some upstream had; see sim.Plant. Nil functions wrap
// nothing.
type Plant struct {
	// Controller wraps one life of the controller manager's allocator, which was made with these parameters.
	Controller func(life int, p nodeipam.CIDRAllocatorParams, a nodeipam.Machine) nodeipam.Machine
	// Pools wraps what decides in one life of cilium-operator.
	Pools func(life int, p cilium.Pools) cilium.Pools
	// Demand wraps what one life of a node's Cilium agent asks for and gives back.
	Demand func(node string, d cilium.Demand) cilium.Demand
	// Handshake wraps what one life of a node's Cilium agent says in the release handshake; lives count from 1.
	Handshake func(node string, life int, h cilium.Handshake) cilium.Handshake
	// Expirations wraps the timers of addresses in one life of a node's Cilium agent, Routes how it keeps its host's
	// routes out.
	Expirations func(node string, e cilium.Expirations) cilium.Expirations
	Routes      func(node string, core *cilium.IPAM, routes func() []cilium.Route) cilium.Reserver
	// Side wraps what is seen of one life of a node's agent.
	Side func(node string, s Side) Side
	// Manager wraps one life of a node's ipamd, which decides about pool.
	Manager func(node string, pool *datastore.NodePool, m Manager) Manager
	// Cloud wraps the EC2 that a node's ipamds ask.
	Cloud func(node string, c Cloud) Cloud
}

// Manager is what an ipamd decides by: datastore.Manager.
type Manager = datastore.Keeper

// Cloud is EC2 as one instance sees it: ec2.Instance.
type Cloud interface {
	Describe(now time.Time) ([]ec2.ENI, error)
	Metadata(now time.Time) []ec2.ENI
	Create(now time.Time, units int, prefixes bool) (ec2.ENI, time.Time, error)
	Assign(now time.Time, eni string, units int, prefixes bool) ([]netip.Prefix, error)
	Unassign(now time.Time, eni string, units []netip.Prefix) error
	Delete(now time.Time, eni string) error
	Attach(now time.Time, tags map[string]string, trunk bool) (string, error)
	Terminate(now time.Time)
}

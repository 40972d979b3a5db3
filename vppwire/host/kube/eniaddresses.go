package kube

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Machine is one instance of EC2 as an operator asks for it.
type Machine interface {
	// Do performs a call. An error with an ErrorCode is EC2's refusal; any other leaves it open what was done.
	Do(ctx context.Context, c datastore.Call) datastore.Result
	// Limits are what its type may have, Free is how many addresses its subnet has left.
	Limits(ctx context.Context) (datastore.Limits, error)
	Free(ctx context.Context) (int, error)
}

// ENIAddressesConfig describes ENIAddresses.
type ENIAddressesConfig struct {
	// Client is needed, and needs, of Nodes: get.
	Client kubernetes.Interface
	// Machine is the instance of an ID. It is needed.
	Machine func(ctx context.Context, id string) (Machine, error)
	// Prefixes: interfaces get delegated /28 prefixes as long as the subnet has any (aws-enable-prefix-delegation).
	Prefixes bool
}

// ENIAddresses are the Addresses of mode eni: secondary addresses and delegated prefixes of the interfaces of the instances that
// Nodes are, by their spec.providerID.
type ENIAddresses struct {
	cfg ENIAddressesConfig

	mu sync.Mutex
	// machines are those that were asked, by ID.
	machines map[string]*limited
}

// limited is a machine with what it may have.
type limited struct {
	Machine
	limits datastore.Limits
}

var _ Addresses = (*ENIAddresses)(nil)

// NewENIAddresses returns addresses of which nothing is known.
func NewENIAddresses(c ENIAddressesConfig) *ENIAddresses {
	return &ENIAddresses{cfg: c, machines: make(map[string]*limited)}
}

// throttledCode is EC2's for too many requests.
const throttledCode = "RequestLimitExceeded"

// answered is an error of EC2 as Addresses have them.
func answered(err error) error {
	var coded interface{ ErrorCode() string }
	switch {
	case err == nil || !errors.As(err, &coded) || coded.ErrorCode() == "":
		return err
	case coded.ErrorCode() == throttledCode:
		return fmt.Errorf("%w: %w", ErrThrottled, err)
	}
	return refusedAddresses(err)
}

// of is the machine of a node.
func (e *ENIAddresses) of(ctx context.Context, node string) (*limited, error) {
	n, err := e.cfg.Client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		return nil, refusedAddresses(err)
	}
	id := n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]
	if !strings.HasPrefix(n.Spec.ProviderID, "aws://") || !strings.HasPrefix(id, "i-") {
		return nil, refusedAddresses(fmt.Errorf("node %s has the providerID %q, which names no instance of EC2", node, n.Spec.ProviderID))
	}
	e.mu.Lock()
	m := e.machines[id]
	e.mu.Unlock()
	if m != nil {
		return m, nil
	}
	one, err := e.cfg.Machine(ctx, id)
	if err != nil {
		return nil, answered(err)
	}
	m = &limited{Machine: one}
	if m.limits, err = one.Limits(ctx); err != nil {
		return nil, answered(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.machines[id] = m
	return m, nil
}

// interfaces are those of a machine.
func (m *limited) interfaces(ctx context.Context) ([]datastore.AttachedENI, error) {
	r := m.Do(ctx, datastore.Call{Op: datastore.DescribeENIs})
	return r.ENIs, answered(r.Err)
}

// List implements Addresses.
func (e *ENIAddresses) List(ctx context.Context, node string) (cilium.AllocationMap, error) {
	m, err := e.of(ctx, node)
	if err != nil {
		return nil, err
	}
	list, err := m.interfaces(ctx)
	if err != nil {
		return nil, err
	}
	has := make(cilium.AllocationMap)
	for _, i := range list {
		has.AddUnits(i.ID, i.Units)
	}
	return has, nil
}

// Assign implements Addresses: on the interface that cilium.Place says, or on a new one.
func (e *ENIAddresses) Assign(ctx context.Context, node string, count int) (cilium.AllocationMap, error) {
	m, err := e.of(ctx, node)
	if err != nil {
		return nil, err
	}
	list, err := m.interfaces(ctx)
	if err != nil {
		return nil, err
	}
	free, err := m.Free(ctx)
	if err != nil {
		return nil, answered(err)
	}
	place := cilium.Placement{Most: m.limits.IPv4PerENI - 1, Left: free, Prefixes: e.cfg.Prefixes}
	for _, i := range list {
		place.Interfaces = append(place.Interfaces, cilium.Interface{ID: i.ID, Units: i.Units})
	}
	got := make(cilium.AllocationMap)
	err = place.Assign(count, func(u cilium.Units) error {
		switch {
		case u.Interface != "":
			r := m.Do(ctx, datastore.Call{Op: datastore.AssignUnits, ENI: u.Interface, Units: u.Count, Delegated: u.Prefixes})
			got.AddUnits(u.Interface, r.Prefixes)
			return answered(r.Err)
		case len(list) >= m.limits.ENIs:
			return refusedAddresses(fmt.Errorf("node %s has all %d interfaces that its instance may have, and they are full", node, m.limits.ENIs))
		}
		r := m.Do(ctx, datastore.Call{Op: datastore.CreateENI, Units: u.Count, Delegated: u.Prefixes})
		for _, i := range r.ENIs {
			got.AddUnits(i.ID, i.Units)
		}
		return answered(r.Err)
	})
	return got, err
}

// Unassign implements Addresses, in one request for each interface.
func (e *ENIAddresses) Unassign(ctx context.Context, node string, ips []netip.Addr) error {
	m, err := e.of(ctx, node)
	if err != nil {
		return err
	}
	list, err := m.interfaces(ctx)
	if err != nil {
		return err
	}
	for _, i := range list {
		units := cilium.Interface{ID: i.ID, Units: i.Units}.Singles(ips)
		if len(units) == 0 {
			continue
		}
		if r := m.Do(ctx, datastore.Call{Op: datastore.UnassignUnits, ENI: i.ID, Prefixes: units}); r.Err != nil {
			return answered(r.Err)
		}
	}
	return nil
}

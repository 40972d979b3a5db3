package kube

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
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

// ENIAddressesConfig describes ENIAddresses. All fields are needed.
type ENIAddressesConfig struct {
	// Client needs, of Nodes: get.
	Client kubernetes.Interface
	// Machine is the instance of an ID.
	Machine func(ctx context.Context, id string) (Machine, error)
}

// ENIAddresses are the Addresses of mode eni: secondary addresses of the interfaces of the instances that Nodes are, by their
// spec.providerID.
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
		addUnits(has, i.ID, i.Units)
	}
	return has, nil
}

func addUnits(to cilium.AllocationMap, eni string, units []netip.Prefix) {
	for _, u := range units {
		if u.IsSingleIP() {
			to[u.Addr()] = cilium.AllocationIP{Resource: eni}
		}
	}
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
	have := make([]cilium.Interface, len(list))
	for i, eni := range list {
		have[i] = cilium.Interface{ID: eni.ID, Units: len(eni.Units)}
	}
	id, n := cilium.Place(have, count, m.limits.IPv4PerENI-1, free)
	got := make(cilium.AllocationMap)
	switch {
	case id != "":
		r := m.Do(ctx, datastore.Call{Op: datastore.AssignUnits, ENI: id, Units: n})
		addUnits(got, id, r.Prefixes)
		return got, answered(r.Err)
	case len(list) >= m.limits.ENIs:
		return nil, refusedAddresses(fmt.Errorf("node %s has all %d interfaces that its instance may have, and they are full", node, m.limits.ENIs))
	}
	r := m.Do(ctx, datastore.Call{Op: datastore.CreateENI, Units: n})
	for _, i := range r.ENIs {
		addUnits(got, i.ID, i.Units)
	}
	return got, answered(r.Err)
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
		units := slices.DeleteFunc(slices.Clone(i.Units), func(u netip.Prefix) bool { return !slices.Contains(ips, u.Addr()) })
		if len(units) == 0 {
			continue
		}
		if r := m.Do(ctx, datastore.Call{Op: datastore.UnassignUnits, ENI: i.ID, Prefixes: units}); r.Err != nil {
			return answered(r.Err)
		}
	}
	return nil
}

package ipam_test

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// ciliumFleet is an operator, a cloud that always delivers, and nodes with agents that answer at once.
type ciliumFleet struct {
	setup    *ciliumSetup
	operator *cilium.Operator
	stores   map[string]*cilium.NodeStore
	nodes    map[string]*cilium.CiliumNode
	now      time.Time
	next     netip.Addr
	left     int
	queue    []cilium.Action
}

func newCiliumFleet(s *ciliumSetup) (*ciliumFleet, error) {
	o, err := cilium.NewOperator(cilium.OperatorConfig{ReleaseExcessIPs: s.ReleaseExcessIPs})
	f := &ciliumFleet{
		setup: s, operator: o, stores: make(map[string]*cilium.NodeStore), nodes: make(map[string]*cilium.CiliumNode),
		now: time.Unix(1700000000, 0), next: netip.MustParseAddr("1.1.0.1"), left: 1 << 20,
	}
	if s.PoolSize > 0 {
		f.left = s.PoolSize
	}
	return f, err
}

func (f *ciliumFleet) do(op string, args ciliumArgs) (map[string]any, error) {
	switch op {
	case "Update":
		return nil, f.update(args.Node, 0)
	case "Delete":
		f.operator.Delete(args.Node)
		return nil, nil
	case "GetNames":
		return map[string]any{"list": f.operator.Names(), "count": len(f.operator.Names())}, nil
	case "Get":
		if s, ok := f.operator.Get(args.Node); ok {
			return value(s, nil)
		}
		return value[any](nil, nil)
	case "UpdateCiliumNode":
		if err := f.update("node1", args.Used); err != nil {
			return nil, err
		}
	case "ResyncNode":
		f.queue = append(f.queue, f.operator.Resync(f.now)...)
		if err := f.settle(); err != nil {
			return nil, err
		}
	case "UpdateAll":
		return f.updateAll()
	default:
		return nil, errNoOperation
	}
	s, _ := f.operator.Get("node1")
	return map[string]any{"available": s.Available, "used": s.Used}, nil
}

func (f *ciliumFleet) updateAll() (map[string]any, error) {
	have := map[string]any{}
	for i := range f.setup.Nodes {
		name := fmt.Sprintf("node%d", i)
		if err := f.update(name, 0); err != nil {
			return nil, err
		}
		s, _ := f.operator.Get(name)
		if before, ok := have["eachAvailable"]; ok && (before != s.Available || have["eachUsed"] != s.Used) {
			return nil, fmt.Errorf("%s has %d addresses and uses %d, others do not", name, s.Available, s.Used)
		}
		have["eachAvailable"], have["eachUsed"] = s.Available, s.Used
	}
	return have, nil
}

// update lets a node use so many addresses, and everybody settle.
func (f *ciliumFleet) update(name string, used int) error {
	if f.nodes[name] == nil {
		store, err := cilium.NewNodeStore(cilium.StoreConfig{Name: name, Pick: new(upwards)})
		if err != nil {
			return err
		}
		store.FinishRestore()
		f.stores[name] = store
		n := &cilium.CiliumNode{Metadata: cilium.ObjectMeta{Name: name}}
		n.Spec.IPAM.Watermarks = f.setup.watermarks()
		if err := f.wrote(n); err != nil {
			return err
		}
		f.queue = append(f.queue, f.operator.Listed(f.now, name, nil)...)
		if err := f.settle(); err != nil {
			return err
		}
	}
	a := f.stores[name].Allocator(cilium.IPv4)
	have, _ := a.Dump()
	for _, ip := range slices.Sorted(maps.Keys(have)) {
		if len(have) > used {
			if err := a.Release(netip.MustParseAddr(ip)); err != nil {
				return err
			}
			delete(have, ip)
		}
	}
	for range used - len(have) {
		if _, err := a.AllocateNext("pod"); err != nil {
			return err
		}
	}
	if err := f.publish(name); err != nil {
		return err
	}
	return f.settle()
}

// wrote tells everybody about a stored resource.
func (f *ciliumFleet) wrote(n *cilium.CiliumNode) error {
	f.nodes[n.Metadata.Name] = n
	actions, err := f.operator.Update(f.now, n)
	f.queue = append(f.queue, actions...)
	return errors.Join(err, f.stores[n.Metadata.Name].Update(n))
}

func (f *ciliumFleet) publish(name string) error {
	f.now = f.now.Add(time.Minute)
	if n, ok := f.stores[name].Publish(f.now); ok {
		return f.wrote(n)
	}
	return nil
}

// settle does what the operator wants until it wants nothing.
func (f *ciliumFleet) settle() error {
	for calls := 0; len(f.queue) > 0; calls++ {
		if calls > 1000*max(f.setup.Nodes, 1) {
			return errors.New("the operator never has enough")
		}
		a := f.queue[0]
		f.queue = f.queue[1:]
		switch a.Kind {
		case cilium.ActAllocate:
			given := make(cilium.AllocationMap)
			for range min(a.Count, f.left) {
				given[f.next] = cilium.AllocationIP{}
				f.next = f.next.Next()
				f.left--
			}
			f.queue = append(f.queue, f.operator.Allocated(f.now, a.Node, given, nil)...)
		case cilium.ActFree:
			f.left++
			f.queue = append(f.queue, f.operator.Freed(f.now, a.Node, a.IP, nil)...)
		case cilium.ActWrite:
			if err := errors.Join(f.wrote(a.Resource), f.publish(a.Node)); err != nil {
				return err
			}
		}
	}
	return nil
}

package ipam_test

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// nodeIDs is a store with the records of Contiv's nodes; who wants an ID claims it as an agent does.
type nodeIDs map[uint32]string

// claim lets a fresh agent of a node find its ID or claim one.
func (ids nodeIDs) claim(node string) (uint32, error) {
	now := time.Unix(0, 0).UTC()
	m := nodeid.New(nodeid.Config{Name: node, Patience: -1, Plan: everyID(node)})
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		m.Step(now, nodeid.NodeSeen{Name: ids[id], UID: "uid-" + ids[id]})
	}
	m.Step(now, nodeid.NodeSeen{Name: node, UID: "uid-" + node})
	events := []nodeid.Event{nodeid.NodesListed{}, nodeid.Act{}}
	for steps := 0; len(events) > 0 && steps < 100; steps++ {
		effects := slices.Clone(m.Step(now, events[0]))
		events = events[1:]
		for _, e := range effects {
			switch e := e.(type) {
			case nodeid.Save:
				return e.ID, nil
			case nodeid.Request:
				reply, err := ids.serve(e)
				if err != nil {
					return 0, err
				}
				events = append(events, reply)
			case nodeid.Changed:
				if e&nodeid.WantsAct != 0 {
					events = append(events, nodeid.Act{})
				}
			}
		}
	}
	return 0, errors.New("the agent claims no ID")
}

func (ids nodeIDs) serve(r nodeid.Request) (nodeid.StoreReply, error) {
	reply := nodeid.StoreReply{ID: r.ID, Revision: 1, Store: 1}
	switch r.Op {
	case nodeid.List:
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			n := nodeid.Record{ID: id, Name: ids[id], UID: "uid-" + ids[id]}
			if strings.HasPrefix(n.Key(), r.Key) {
				reply.Items = append(reply.Items, nodeid.Item{Key: n.Key(), Value: n.String(), ModRevision: 1})
			}
		}
	case nodeid.Watch:
	case nodeid.Create:
		var id uint32
		if _, err := fmt.Sscanf(r.Key, nodeid.Prefix+"%d", &id); err != nil || ids[id] != "" {
			return reply, fmt.Errorf("%s was written over %q: %w", r.Key, ids[id], err)
		}
		ids[id], _, _ = strings.Cut(strings.SplitAfterN(r.Value, `"name":"`, 2)[1], `"`)
		reply.Items = []nodeid.Item{{Key: r.Key, Value: r.Value, ModRevision: 1}}
	default:
		return reply, fmt.Errorf("the agent asks for %s %s", r.Op, r.Key)
	}
	return reply, nil
}

// release is what becomes of the record of a node that is gone; false when there was none.
func (ids nodeIDs) release(id uint32) bool {
	_, had := ids[id]
	delete(ids, id)
	return had
}

// everyID is the plan of a node for which every ID has addresses.
type everyID string

func (everyID) IDs() (uint32, bool)                     { return 1 << 16, true }
func (everyID) Block(uint32) (netip.Prefix, bool)       { return netip.Prefix{}, true }
func (everyID) Regular(_ uint32, n []netip.Prefix) bool { return len(n) == 0 }
func (p everyID) Record(c nodeid.Claim, _ *nodeid.Record) (nodeid.Record, bool) {
	return nodeid.Record{ID: c.ID, Name: string(p), UID: c.UID}, true
}

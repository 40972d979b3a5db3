package cluster

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/store"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// storeInput and storeOutput are one operation on one key. Values are unique, so "its ModRevision is the one seen with
// value expect" is the same as "its value is expect".
type storeInput struct {
	op            agent.StoreOp
	key           string
	expect, value string
}

type storeOutput struct {
	unknown, conflict bool
	value             string // the present one, "" for absent
}

// storeModel is what linearizability is checked against. An operation without an answer happened or did not.
var storeModel = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(storeInput).key
			byKey[key] = append(byKey[key], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		now, in, out := state.(string), input.(storeInput), output.(storeOutput)
		met := in.op == agent.StoreCreate && now == "" || in.op != agent.StoreCreate && now != "" && now == in.expect
		then := in.value // "" for a deletion
		switch {
		case in.op == agent.StoreList:
			if out.unknown || out.value == now {
				return []any{now}
			}
		case out.unknown && met:
			return []any{now, then}
		case out.unknown:
			return []any{now}
		case out.conflict && !met && out.value == now:
			return []any{now}
		case !out.conflict && met:
			return []any{then}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
}

// TestStoreLinearizable: five clients work on three keys over links that lose and delay; the history of what they asked
// and heard, with unknown outcomes, is one of a register per key. The test is only worth something if outcomes of each
// sort occur, which it demands.
func TestStoreLinearizable(t *testing.T) {
	var unknown, conflicts int
	for seed := range uint64(20) {
		h := newStoreHistory(seed)
		h.run(300)
		unknown += h.unknown
		conflicts += h.conflicts
		if got := porcupine.CheckOperationsTimeout(storeModel.ToModel(), h.ops, 20*time.Second); got != porcupine.Ok {
			t.Fatalf("seed %d: history of %d operations: %s", seed, len(h.ops), got)
		}
	}
	if unknown < 100 || conflicts < 100 {
		t.Fatalf("too tame: %d unknown outcomes, %d conflicts", unknown, conflicts)
	}
}

type storeHistory struct {
	eng                *engine.Engine
	clients            []*storeActor
	ops                []porcupine.Operation
	left               int
	tick               int64
	unknown, conflicts int
}

// storeActor asks one thing at a time and remembers the revision of each key.
type storeActor struct {
	h      *storeHistory
	id     int
	client *StoreClient
	seen   map[string]agent.StoreItem
	asked  agent.StoreRequest
	input  storeInput
	called int64
	serial uint64
}

func newStoreHistory(seed uint64) *storeHistory {
	h := &storeHistory{eng: engine.New(engine.Seeded(seed))}
	net := NewNetwork(h.eng, NetworkConfig{Default: Link{DelayMin: time.Millisecond, DelayMax: 4 * time.Second, Loss: 0.05}})
	server := NewStoreServer(h.eng, net, net.Endpoint("store"), store.New())
	for i := range 5 {
		a := &storeActor{h: h, id: i, seen: map[string]agent.StoreItem{}}
		a.client = server.Connect(net.Endpoint(fmt.Sprint("node-", i)), a.heard)
		h.clients = append(h.clients, a)
	}
	return h
}

func (h *storeHistory) run(n int) {
	h.left = n
	for _, a := range h.clients {
		a.ask()
	}
	for h.eng.Step() {
	}
}

// now is a time that orders what happens at one instant.
func (h *storeHistory) now() int64 {
	h.tick++
	return h.tick
}

func (a *storeActor) ask() {
	if a.h.left == 0 {
		return
	}
	a.h.left--
	a.serial++
	key := fmt.Sprint("key-", a.h.eng.Choose("key", 3))
	value := fmt.Sprintf("%d.%d", a.id, a.serial)
	seen := a.seen[key]
	r := agent.StoreRequest{ID: a.serial, Key: key, Value: value, Revision: seen.ModRevision}
	r.Op = []agent.StoreOp{agent.StoreList, agent.StoreCreate, agent.StoreUpdate, agent.StoreDelete}[a.h.eng.Choose("op", 4)]
	a.input = storeInput{op: r.Op, key: key, expect: seen.Value, value: value}
	if r.Op == agent.StoreDelete {
		a.input.value = ""
	}
	a.asked, a.called = r, a.h.now()
	a.client.Do(r)
}

func (a *storeActor) heard(ev agent.Event) {
	r := ev.(agent.StoreReply)
	var out storeOutput
	returned := a.h.now()
	switch r.Err {
	case agent.StoreUnavailable:
		out.unknown = true
		returned = math.MaxInt64 // it may still happen
		a.h.unknown++
	case agent.StoreConflict:
		out.conflict = true
		a.h.conflicts++
	}
	for _, it := range r.Items {
		if it.Key == a.asked.Key {
			a.seen[it.Key] = it
			out.value = it.Value
		}
	}
	if a.asked.Op == agent.StoreList && r.Err == agent.StoreOK && len(r.Items) == 0 {
		a.seen[a.asked.Key] = agent.StoreItem{}
	}
	a.h.ops = append(a.h.ops, porcupine.Operation{
		ClientId: a.id, Input: a.input, Output: out, Call: a.called, Return: returned,
	})
	a.ask()
}

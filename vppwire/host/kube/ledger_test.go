package kube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// ledger are the versions of the entries that the server has, and the one that the ledger begins with.
func (s *server) ledger() (versions []string, start string) {
	for _, o := range s.All("nodeidrecords") {
		var r kube.NodeIDRecord
		if err := json.Unmarshal(encode(o), &r); err != nil {
			panic(err)
		}
		if version, ok := strings.CutPrefix(r.Spec.Key, "pools/ledger/"); ok {
			versions = append(versions, version)
		} else if r.Spec.Key == "pools/start" {
			start = r.Spec.Record
		}
	}
	slices.Sort(versions)
	return versions, start
}

// churn has nodes come and go, one after the other, each with a block while it is there.
func (s *server) churn(t *testing.T, nodes int) {
	t.Helper()
	for k := range nodes {
		name := fmt.Sprintf("passing-%d", k)
		s.poolNode(t, name, 5)
		until(t, func() bool { return len(s.allocated(name)) == 1 }, func() string { return name + " has nothing" })
		s.drop("poolnodes", "", name)
	}
}

// unique tells blocks that two nodes show.
func (s *server) unique(t *testing.T, names ...string) {
	t.Helper()
	owner := map[string]string{}
	for _, name := range names {
		for _, block := range s.allocated(name) {
			if other := owner[block]; other != "" {
				t.Errorf("%s and %s show %s", other, name, block)
			}
			owner[block] = name
		}
	}
}

// Goal: the ledger is no longer than what it says, however long nodes come and go, and each leader goes on where the
// last one ended. Method: a small slack, many nodes one after the other, one that stays, and another leader.
func TestLedgerIsBegunAnew(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	cfg := kube.OperatorConfig{Client: client, New: multiPool(3), Requested: true, LedgerSlack: 4}
	stop := operate(t, cfg)
	s.poolNode(t, "stays", 20)
	until(t, func() bool { return len(s.allocated("stays")) == 2 }, func() string { return "no blocks" })
	kept := s.allocated("stays")
	s.churn(t, 12)
	stop()
	before, start := s.ledger()
	if start == "" || start == "1" {
		t.Fatalf("it begins with %q: %v", start, before)
	}
	operate(t, cfg)
	s.churn(t, 3)
	until(t, func() bool { have, _ := s.ledger(); return len(have) <= 4+2*4+2 }, func() string { have, start := s.ledger(); return fmt.Sprint(start, " ", have) })
	if have, _ := s.ledger(); have[0] < before[0] || have[len(have)-1] <= before[len(before)-1] {
		t.Errorf("after %v there is %v", before, have)
	}
	if have := s.allocated("stays"); !slices.Equal(have, kept) {
		t.Errorf("who stays had %v, has %v", kept, have)
	}
}

// Goal: a leader that was deposed and comes back appends nothing that counts, also where the entry that it would append
// is deleted by now. Method: one that is cut off while another gives its free blocks away and begins the ledger anew,
// again and again; then it hears of a node first.
func TestDeposedBehindNewLedger(t *testing.T) {
	s := newServer(t)
	old, wire := s.dial(t)
	cfg := kube.OperatorConfig{Client: old, New: multiPool(3), Requested: true, LedgerSlack: 4, RequestTimeout: 200 * time.Millisecond}
	operate(t, cfg)
	s.poolNode(t, "a", 20)
	until(t, func() bool { return len(s.allocated("a")) == 2 }, func() string { return "no blocks" })
	wire.Partition(apiserver.Vanish)
	wire.Set(func(*http.Request) apiserver.Fate { return apiserver.Vanish })

	cfg.Client, _ = s.dial(t)
	stop := operate(t, cfg)
	s.churn(t, 15)
	s.poolNode(t, "b", 60)
	until(t, func() bool { return len(s.allocated("b")) == 5 }, func() string { return fmt.Sprint(s.allocated("b")) })
	kept := s.allocated("b")
	next := fmt.Sprintf("%020d", 3) // what the old one would append
	until(t, func() bool { have, _ := s.ledger(); return len(have) > 0 && have[0] > next }, func() string { have, start := s.ledger(); return fmt.Sprint(start, " ", have) })
	stop()
	s.poolNode(t, "c", 5)
	wire.Heal()
	until(t, func() bool { return len(s.allocated("c")) == 1 }, func() string { return "c has nothing" })
	if have := s.allocated("b"); !slices.Equal(have, kept) {
		t.Errorf("b had %v, has %v", kept, have)
	}
	s.unique(t, "a", "b", "c")
}

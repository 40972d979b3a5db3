package kube_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Goal: a node whose pods are refused for want of addresses says so at once, not with each of the kubelet's
// repetitions, again while it lasts, and with patience only when it lasts; other refusals and an address that is given
// say nothing. Method: answers at seconds.
func TestNoAddress(t *testing.T) {
	none := agent.Answer{Code: agent.CodeTryAgain, Message: "no address is free", Exhausted: true}
	given := agent.Answer{Code: agent.CodeOK, Result: agent.Attachment{Addr: netip.MustParsePrefix("10.1.1.2/32")}}
	deleted, other := agent.Answer{Code: agent.CodeOK}, agent.Answer{Code: agent.CodeTryAgain, Message: "not ready"}
	type at struct {
		second int
		answer agent.Answer
		told   bool
	}
	for name, c := range map[string]struct {
		patience time.Duration
		steps    []at
	}{
		"at once, and again":         {0, []at{{0, given, false}, {1, other, false}, {2, none, true}, {3, none, false}, {601, none, false}, {602, none, true}}},
		"at the edge it is not told": {0, []at{{0, none, true}, {5, given, false}, {6, none, false}, {7, given, false}, {8, none, false}}},
		"with patience":              {15 * time.Second, []at{{0, none, false}, {14, none, false}, {15, none, true}}},
		"a block came":               {15 * time.Second, []at{{0, none, false}, {10, given, false}, {20, none, false}, {30, none, false}, {35, none, true}}},
		"a DEL is no block":          {15 * time.Second, []at{{0, none, false}, {10, deleted, false}, {15, none, true}}},
		"another time":               {15 * time.Second, []at{{0, none, false}, {121, none, false}, {300, none, false}, {315, none, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			var told []agent.Log
			n := kube.NoAddress{Tell: func(l agent.Log) { told = append(told, l) }, Patience: c.patience}
			begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
			for _, s := range c.steps {
				told = nil
				n.Stepped(begin.Add(time.Duration(s.second)*time.Second), []agent.Effect{agent.WakeAt{}, s.answer})
				if (len(told) == 1) != s.told || len(told) > 1 {
					t.Errorf("second %d: told %+v", s.second, told)
				}
				for _, l := range told {
					if l.Reason != kube.ReasonNoAddress || l.PodName != "" || !strings.HasPrefix(l.Message, "pods on this node are refused: no address is free; ") {
						t.Errorf("told %+v", l)
					}
				}
			}
		})
	}
}

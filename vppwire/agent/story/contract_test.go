package story_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// TestContract: each way in which a driver can break the contract is noticed by name. Method: one driver for each.
func TestContract(t *testing.T) {
	for want, events := range map[string][]agent.Event{
		"Restored came twice":          {agent.Restored{}, agent.Restored{}},
		"no call is outstanding":       {agent.Restored{}, agent.Called{}},
		"only 1 were asked for":        {agent.Restored{}, agent.Persisted{Seq: 2}},
		"request number 7 comes twice": {agent.PodStatus{Request: 7}, agent.PodDel{Request: 7}},
		"Hooked 1":                     {agent.Restored{}, agent.Hooked{ID: 1}},
		"StoreReply 9 was never":       {agent.Restored{}, agent.StoreReply{ID: 9}},
		"watch 1 was never":            {agent.Restored{}, agent.StoreChanged{Watch: 1}},
		"behind":                       {agent.Restored{}, nil},
		"":                             {agent.PodStatus{Request: 7}, agent.Restored{}, agent.Persisted{Seq: 1}, agent.StoreReply{ID: 1}, agent.Woke{}},
	} {
		if got := played(t, events); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// played tells an agent some events, nil for one of an earlier time, and returns what the contract says.
func played(t *testing.T, events []agent.Event) (said string) {
	alloc, err := contiv.New(contiv.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(story.Config("n1"), alloc)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != nil {
			said = r.(string)
		}
	}()
	c, now := story.Watched(a), time.Unix(1000, 0)
	for _, ev := range events {
		if ev == nil {
			c.Step(now.Add(-time.Second), agent.Woke{})
			continue
		}
		c.Step(now, ev)
	}
	return ""
}

package agent_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// TestAddPatience: an ADD that VPP goes on refusing fails with the reason and is undone; its address is free again.
func TestAddPatience(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Start()
	b.Tell()
	l.Settle()
	l.Mishap = func(_ *story.Machine, what string) story.Mishap {
		if what == "call" {
			return story.Refused
		}
		return story.Fine
	}
	b.Add("web-0", "c1")
	l.Pass(29 * time.Second)
	if a, ok := l.Answers["n1/add c1"]; ok {
		t.Errorf("answered too early: %+v", a)
	}
	l.Pass(2 * time.Second)
	if a := l.Answers["n1/add c1"]; a.Code != CodeTryAgain || !strings.Contains(a.Message, story.ErrRefused.Error()) {
		t.Errorf("answer is %+v", a)
	}
	l.Mishap = nil
	l.Pass(time.Minute)
	if s := b.State(); strings.Contains(s, "pod") || strings.Contains(s, "pending") {
		t.Errorf("left behind: %s", s)
	}
}

// TestTroubleWithPods: what VPP refuses of pods is told by STATUS after seconds, stays told when the ADD is given up,
// and ends with the first pod that can be wired.
func TestTroubleWithPods(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Start()
	b.Tell()
	l.Settle()
	var refused bool
	l.Mishap = func(_ *story.Machine, what string) story.Mishap {
		if what == "call" && refused {
			return story.Refused
		}
		return story.Fine
	}
	told := func(when, want string) {
		t.Helper()
		l.Settle()
		if have := b.Agent.Trouble(l.Now); (have == "") != (want == "") || !strings.Contains(have, want) {
			t.Errorf("%s: %q, want %q", when, have, want)
		}
	}
	told("at rest", "")
	refused = true
	b.Add("web-0", "c1")
	told("at once", "")
	l.Pass(4 * time.Second)
	told("after 4 s", "")
	l.Pass(2 * time.Second)
	told("after 6 s", "pod default/web-0 cannot be wired: "+story.ErrRefused.Error())
	l.Pass(time.Minute)
	told("after the ADD was given up", "pod default/web-0 cannot be wired: "+story.ErrRefused.Error())
	refused = false
	l.Pass(time.Minute) // what is left of it goes
	b.Add("web-1", "c2")
	told("with a pod that is wired", "")
}

// TestEarlyEvents: what comes before the journal has been read waits for it.
func TestEarlyEvents(t *testing.T) {
	a, err := New(story.Config("n1"), freshAllocator(t))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0)
	if out := a.Step(now, PodStatus{Request: 1}); len(out) != 0 {
		t.Errorf("answered before the journal was read: %v", out)
	}
	if a.Pending() == "" || a.Idle() {
		t.Error("idle before the journal was read")
	}
	answers := 0
	for _, e := range a.Step(now, Restored{}) {
		if e, ok := e.(Answer); ok && e.Code == CodeUnavailable {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("%d answers", answers)
	}
}

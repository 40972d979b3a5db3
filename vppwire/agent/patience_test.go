package agent

import (
	"strings"
	"testing"
	"time"
)

// TestAddPatience: an ADD that VPP goes on refusing fails with the reason and is undone; its address is free again.
func TestAddPatience(t *testing.T) {
	l := newLab(t)
	b := l.box("n1")
	b.start()
	b.api()
	l.settle()
	l.mishap = func(_ *box, what string) mishap {
		if what == "call" {
			return refused
		}
		return fine
	}
	b.add("web-0", "c1")
	l.pass(29 * time.Second)
	if a, ok := l.answers["n1/add c1"]; ok {
		t.Errorf("answered too early: %+v", a)
	}
	l.pass(2 * time.Second)
	if a := l.answers["n1/add c1"]; a.Code != CodeTryAgain || !strings.Contains(a.Message, errRefused.Error()) {
		t.Errorf("answer is %+v", a)
	}
	l.mishap = nil
	l.pass(time.Minute)
	if s := b.state(); strings.Contains(s, "pod") || strings.Contains(s, "pending") {
		t.Errorf("left behind: %s", s)
	}
}

// TestEarlyEvents: what comes before the journal has been read waits for it.
func TestEarlyEvents(t *testing.T) {
	a, err := New(testConfig("n1"), freshAllocator(t))
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

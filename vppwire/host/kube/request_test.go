package kube_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// script is a controller that asks for what a test wants, whenever it is woken, and hands on the answers.
type script struct {
	next    []nodeipam.Effect
	answers chan nodeipam.Answered
	told    chan nodeipam.Event // everything, where it is wanted
}

func (*script) Run(time.Time) []nodeipam.Effect { return nil }

func (s *script) Step(_ time.Time, ev nodeipam.Event) []nodeipam.Effect {
	if s.told != nil {
		s.told <- ev
	}
	switch ev := ev.(type) {
	case nodeipam.Woke:
		return s.next
	case nodeipam.Answered:
		s.answers <- ev
	}
	return nil
}

// Goal: each request does what its effect says, to no other object and no later version than it names, and its answer
// says what became of it and what the node looks like. Method: one request after the other on one node.
func TestRequests(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	s.addNode("n")
	m := &script{answers: make(chan nodeipam.Answered, 1)}
	d, _ := drive(t, kube.Config{Client: client, New: func() (nodeipam.Machine, error) { return m, nil }})
	ask := func(e nodeipam.Effect) nodeipam.Answered {
		t.Helper()
		must(t, d.Ask(t.Context(), func(nodeipam.Machine) { m.next = []nodeipam.Effect{e} }))
		must(t, d.Tell(t.Context(), nodeipam.Woke{}))
		return <-m.answers
	}
	cidr := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/64")}
	first := s.nodes()["n"]
	uid, version := string(first.UID), first.ResourceVersion
	var last nodeipam.Answered
	for k, c := range []struct {
		what   string
		effect func() nodeipam.Effect
		want   ipam.Outcome
	}{
		{"get", func() nodeipam.Effect { return nodeipam.GetNode{ID: 7, Name: "n"} }, ipam.Done},
		{"get another", func() nodeipam.Effect { return nodeipam.GetNode{ID: 7, Name: "m"} }, ipam.NotFound},
		{"touch", func() nodeipam.Effect {
			return nodeipam.TouchNode{ID: 7, Name: "n", UID: uid, ResourceVersion: version}
		}, ipam.Done},
		{"touch the old version", func() nodeipam.Effect {
			return nodeipam.TouchNode{ID: 7, Name: "n", UID: uid, ResourceVersion: version}
		}, ipam.Conflict},
		{"touch again", func() nodeipam.Effect {
			return nodeipam.TouchNode{ID: 7, Name: "n", UID: uid, ResourceVersion: last.Node.ResourceVersion}
		}, ipam.Done},
		{"touch an earlier node", func() nodeipam.Effect {
			return nodeipam.TouchNode{ID: 7, Name: "n", UID: "earlier", ResourceVersion: last.Node.ResourceVersion}
		}, ipam.Conflict},
		{"patch an earlier node", func() nodeipam.Effect {
			return nodeipam.PatchNodeCIDRs{ID: 7, Name: "n", UID: "earlier", CIDRs: cidr}
		}, ipam.Conflict},
		{"patch the old version", func() nodeipam.Effect {
			return nodeipam.PatchNodeCIDRs{ID: 7, Name: "n", UID: uid, ResourceVersion: version, CIDRs: cidr}
		}, ipam.Conflict},
		{"patch", func() nodeipam.Effect {
			return nodeipam.PatchNodeCIDRs{ID: 7, Name: "n", UID: uid, ResourceVersion: last.Node.ResourceVersion, CIDRs: cidr}
		}, ipam.Done},
		{"patch what is set", func() nodeipam.Effect {
			return nodeipam.PatchNodeCIDRs{ID: 7, Name: "n", UID: uid, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.1.0/24")}}
		}, ipam.Refused},
		{"condition", func() nodeipam.Effect { return nodeipam.SetNetworkAvailable{ID: 7, Name: "n", Message: "m"} }, ipam.Done},
		{"condition of nothing", func() nodeipam.Effect { return nodeipam.SetNetworkAvailable{ID: 7, Name: "m", Message: "m"} }, ipam.NotFound},
	} {
		before := s.nodes()["n"].ResourceVersion
		a := ask(c.effect())
		if a.ID != 7 || a.Outcome != c.want || (a.Node != nil) != (c.want == ipam.Done) || (a.Why == "") != (c.want == ipam.Done) {
			t.Fatalf("%d, %s: %+v", k, c.what, a)
		}
		if a.Node != nil {
			if _, touched := c.effect().(nodeipam.TouchNode); touched && a.Node.ResourceVersion == before {
				t.Fatalf("%s changed nothing", c.what)
			}
			last = a
			if now := s.nodes()["n"]; a.Node.ResourceVersion != now.ResourceVersion || a.Node.UID != uid {
				t.Fatalf("%s: %+v, and the server has %+v", c.what, a.Node, now)
			}
		}
	}
	if n := s.nodes()["n"]; n.Spec.PodCIDR != "10.0.0.0/24" || len(n.Spec.PodCIDRs) != 2 || last.Node.NetworkUnavailable != nodeipam.ConditionFalse {
		t.Fatalf("%+v", n)
	}
	s.mu.Lock()
	s.answer = func(*http.Request) int { return http.StatusServiceUnavailable }
	s.mu.Unlock()
	// Done, and answered with "try again", which client-go would do by itself: then 409 would hide that it was done.
	if a := ask(nodeipam.TouchNode{ID: 7, Name: "n", UID: uid, ResourceVersion: last.Node.ResourceVersion}); a.Outcome != ipam.Unknown {
		t.Fatalf("%+v", a)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.patches["n"]; n != 10 {
		t.Fatalf("%d PATCHes", n)
	}
}

// Goal: a leader knows until when it leads before it hears of anything else, and hears of each renewal. Method: what it
// is told.
func TestLeading(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	m := &script{told: make(chan nodeipam.Event, 1000)}
	lease := shortLease("we")
	begin := time.Now()
	drive(t, kube.Config{Client: client, New: func() (nodeipam.Machine, error) { return m, nil }, Lease: lease})
	var last time.Time
	for renewals := 0; renewals < 3; {
		leading, ok := (<-m.told).(nodeipam.Leading)
		switch {
		case !ok && last.IsZero():
			t.Fatal("told something else first")
		case !ok:
			continue
		case leading.Until.Before(begin.Add(lease.RenewDeadline)), leading.Until.After(time.Now().Add(lease.RenewDeadline)), leading.Until.Before(last):
			t.Fatalf("%s after %s", leading.Until, last)
		}
		last = leading.Until
		renewals++
	}
}

package vppwire

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func parsed(t *testing.T, lines ...string) (objects []Object) {
	t.Helper()
	for _, line := range lines {
		o, err := ParseObject(line)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	return objects
}

// drive performs calls on b until there is none, or one that stop wants to stay outstanding.
func drive(s *Session, b *bare, stop func(Call) bool) {
	for c, ok := s.Next(time.Unix(0, 0)); ok && !stop(c); c, ok = s.Next(time.Unix(0, 0)) {
		s.Feed(time.Unix(0, 0), b.call(c))
	}
}

func toTheEnd(Call) bool { return false }

// Goal: what was on an interface that VPP lost with its restart is not believed any longer, also where the interface is
// not ours to make. Method: a NIC with a table and an address is gone after the restart; once the dumps are through,
// both are missing.
func TestNICGone(t *testing.T) {
	b, s := newBare(), NewSession()
	s.Set("node", parsed(t, "table 1", "in-table "+twinNIC+" 1", "address "+twinNIC+" 192.168.16.1/24 table 1"))
	s.Connect(1)
	drive(s, b, toTheEnd)
	if !s.Idle() {
		t.Fatal(s.Pending())
	}
	b.die()
	delete(b.index, twinNIC)
	s.Disconnect()
	s.Connect(2)
	drive(s, b, Call.Writes)
	plan := string(s.AppendPlan(nil))
	for _, line := range []string{"  + in-table " + twinNIC + " 1", "  + address " + twinNIC + " 192.168.16.1/24 table 1"} {
		if !strings.Contains(plan, line) {
			t.Errorf("no line %q in\n%s", line, plan)
		}
	}
}

// Goal: both ends of a pair go with it, also for a Session that has only found them. Method: the end in the pod's
// namespace is there by another pair than the wanted one, with all that is wanted of it; when that pair is gone, the
// link is made again.
func TestFarEnd(t *testing.T) {
	const link = "link netns /a eth0 mtu 1450 mac 02:fe:00:00:00:07 of "
	b, s := newBare(), NewSession()
	for _, o := range parsed(t, "veth vd1 peer eth0 netns /a", link+"vd1") {
		if err := b.add(o); err != nil {
			t.Fatal(err)
		}
	}
	s.Set("pod", parsed(t, "veth vd2 peer eth0 netns /a", link+"vd2"))
	s.AllowDelete()
	s.Connect(1)
	drive(s, b, toTheEnd)
	if o, ok := b.have[linkKey("/a", "eth0")].(LinkState); !ok || o.Of != "vd2" || !s.Idle() {
		t.Errorf("the link is %v:\n%s", o, s.AppendPlan(nil))
	}
}

// Goal: what lay in a bridge or a table is not believed any longer when a restarted VPP has neither. Method: everything
// is made, VPP restarts, and once the dumps are through, the entry and the route are missing before anything is tried.
func TestContainersGone(t *testing.T) {
	b, s := newBare(), NewSession()
	entry, route := "fib bd 1 12:2b:00:00:00:02 loop0", "route table 1 10.1.2.0/24 via 192.168.30.2 loop0"
	s.Set("node", parsed(t, "bridge 1", "loopback loop0 mac 12:2b:00:00:00:01", "member loop0 bd 1 shg 1", entry, "table 1", route))
	s.Connect(1)
	drive(s, b, toTheEnd)
	if !s.Idle() {
		t.Fatal(s.Pending())
	}
	b.die()
	s.Disconnect()
	s.Connect(2)
	drive(s, b, Call.Writes)
	plan := string(s.AppendPlan(nil))
	for _, line := range []string{entry, route} {
		if !strings.Contains(plan, "  + "+line) {
			t.Errorf("no line %q in\n%s", line, plan)
		}
	}
}

// Goal: a group's number may be given again as soon as it is forgotten. Method: what a group no longer wants has no
// deletion of its own and stays; the group is forgotten, everything comes into doubt, and the next group is told to be
// done only when it is.
func TestGroupGivenAgain(t *testing.T) {
	b, s := newBare(), NewSession()
	s.Set("pair", parsed(t, "veth vd1 peer eth0 netns /a", "link vd1 mtu 1450 mac 00:00:00:00:00:00 of vd1"))
	s.Set("before", parsed(t, "offload vd1"))
	s.AllowDelete()
	s.Connect(1)
	drive(s, b, toTheEnd)
	s.Set("before", nil)
	if changed := s.Changed(); !slices.Contains(changed, "before") {
		t.Fatalf("only %v are done", changed)
	}
	s.Disconnect()
	s.Connect(2)
	tables := parsed(t, "table 1", "table 2")
	s.Set("after", tables)
	drive(s, b, func(c Call) bool {
		if done, _ := s.Done("after"); done && (b.have[tables[0].Key()] == nil || b.have[tables[1].Key()] == nil) {
			t.Fatalf("done before %s", c)
		}
		return false
	})
}

// Goal: what was set on a link goes with the link also while that is down, and a link that went while it was down is
// not up with the next AF_PACKET on its name. Method: dumps show a pair whose end is down with its offload off; the
// pair is deleted, and another one made.
func TestDownLinkGone(t *testing.T) {
	b, s := newBare(), NewSession()
	pair := parsed(t, "veth vd1 peer eth0 netns /a", "offload vd1")
	if err := b.add(pair[0]); err != nil {
		t.Fatal(err)
	}
	b.have[pair[1].Key()] = pair[1]
	s.Set("pod", pair)
	s.AllowDelete()
	s.Connect(1)
	drive(s, b, toTheEnd)
	s.Set("pod", nil)
	drive(s, b, toTheEnd)
	if len(s.down) > 0 {
		t.Errorf("links that are gone are down: %v", s.down)
	}
	s.Set("next", append(pair, parsed(t, "link vd1 mtu 1450 mac 00:00:00:00:00:00 of vd1")...))
	drive(s, b, toTheEnd)
	if b.have[pair[1].Key()] == nil {
		t.Errorf("the next pair has its offload on:\n%s", s.AppendPlan(nil))
	}
}

// Goal: a link that a dump shows down, where it was believed up, comes up with the AF_PACKET interface on it and needs
// no further call. Method: the call that sets the link up is lost on its way; the dump shows the link as it is wanted,
// but down, and with its offload off.
func TestDownLinkComesUp(t *testing.T) {
	b, s := newBare(), NewSession()
	pair := parsed(t, "veth vd1 peer eth0 netns /a", "link vd1 mtu 1500 mac 00:00:00:00:00:00 of vd1", "offload vd1", "af-packet host-vd1 mac 02:fe:00:00:00:01")
	s.Set("pod", pair)
	s.AllowDelete()
	s.Connect(1)
	set := func(c Call) bool { return c.Name() == "linux_link_set" }
	drive(s, b, set)
	b.have[pair[2].Key()] = pair[2]
	lost := Call{p: &s.call}
	s.Feed(time.Unix(0, 0), lost.Unanswered())
	drive(s, b, func(c Call) bool {
		if set(c) && b.have[pair[1].Key()] != nil || c.Name() == "linux_offload_set" {
			t.Errorf("%s says what is so already", c)
		}
		return false
	})
	if !s.Idle() || b.have[pair[1].Key()] == nil {
		t.Errorf("not all is there:\n%s", s.AppendPlan(nil))
	}
}

// Goal: a namespace that somebody has asked to look at is looked at also when VPP dies before. Method: nobody wants
// anything in it, the dump is queued, and VPP is another one.
func TestAskedNamespaceIsKept(t *testing.T) {
	b, s := newBare(), NewSession()
	s.AllowDelete()
	s.Connect(1)
	s.DoubtNetns("/a")
	s.Disconnect()
	s.Connect(2)
	looked := false
	drive(s, b, func(c Call) bool {
		looked = looked || c.p.step == dumpStep{dump: linuxDump, name: "/a"}
		return false
	})
	if !looked {
		t.Error("nobody has looked there")
	}
}

package netns

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// config is a lab's place for a test without VPP; the test is skipped by name where there are no namespaces.
func config(t *testing.T) lab.Config {
	t.Helper()
	if err := (Backend{}).Check(context.Background()); err != nil {
		t.Skip(err.Error())
	}
	return lab.Config{ID: fmt.Sprintf("t%06x", uint32(os.Getpid())<<4^uint32(time.Now().UnixNano())&0xffffff), Dir: t.TempDir()}
}

// machines makes n machines with power, whose wires carry 192.0.2.1, .2 and so on.
func machines(t *testing.T, s lab.Config, n int) (lab.Fabric, []lab.Machine) {
	t.Helper()
	g, err := Backend{}.Open(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := (Backend{}).Sweep(s.ID, s.Dir); err != nil {
			t.Error(err)
		}
	})
	var out []lab.Machine
	for i := 1; i <= n; i++ {
		m, err := g.Join(lab.MachineSpec{Name: fmt.Sprintf("node-%d", i), Number: uint32(i), Dir: filepath.Join(s.Dir, fmt.Sprint(i)), NIC: true, NICMTU: fabric.WireMTU,
			Management: []netip.Addr{netip.AddrFrom4([4]byte{10, 20, 0, byte(i)})}})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.PowerOn(); err != nil {
			t.Fatal(err)
		}
		if err := m.(*machine).space.SetAddresses(lab.NICDevice, []netip.Prefix{netip.PrefixFrom(wire(i), 24)}); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return g, out
}

func wire(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}) }

// reaches asks by a real ping.
func reaches(from, to lab.Machine, addr netip.Addr, patience time.Duration) bool {
	o := probe.Ping(context.Background(), probe.Place{Netns: from.Netns("")}, probe.Place{Netns: to.Netns(""), Addr: addr}, 56, false, patience)
	return o.Err == nil
}

// Goal: machines reach each other by wire and by management network, a cut drops frames between exactly the machines it
// names, and what the fabric cannot cut is refused by name. Method: pings between three machines.
func TestFabric(t *testing.T) {
	g, ms := machines(t, config(t), 3)
	if !reaches(ms[0], ms[1], wire(2), 5*time.Second) || !reaches(ms[0], ms[2], netip.MustParseAddr("10.20.0.3"), 5*time.Second) {
		t.Fatal("a fresh fabric does not carry")
	}
	if err := g.Cut([][2]string{{"node-1", "node-2"}}); err != nil {
		t.Fatal(err)
	}
	if reaches(ms[0], ms[1], wire(2), 300*time.Millisecond) {
		t.Error("a cut fabric carries")
	}
	if !reaches(ms[0], ms[2], wire(3), 5*time.Second) || !reaches(ms[1], ms[2], wire(3), 5*time.Second) {
		t.Error("a cut takes others with it")
	}
	if !reaches(ms[0], ms[1], netip.MustParseAddr("10.20.0.2"), 5*time.Second) {
		t.Error("the management network was cut too")
	}
	if err := g.Cut([][2]string{{"node-1", "node-2"}, {"node-2", "node-3"}}); !errors.Is(err, result.ErrUnsupported) {
		t.Errorf("a cut that the fabric cannot make: %v", err)
	}
	if err := g.Cut([][2]string{{"node-1", "node-2"}, {"node-3", "node-2"}, {"node-3", "node-1"}}); err != nil {
		t.Error(err)
	}
	if err := g.Cut(nil); err != nil || !reaches(ms[0], ms[1], wire(2), 5*time.Second) {
		t.Errorf("a mended fabric does not carry: %v", err)
	}
}

// Goal: a machine that loses power loses its processes, pods and links, and boots again as new. Method: one machine
// with a pod and a process, twice.
func TestPower(t *testing.T) {
	s := config(t)
	_, ms := machines(t, s, 2)
	m := ms[0]
	for range 2 {
		pod, err := m.CreatePod("abc")
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Spawn([]string{"sleep", "600"}, "sleep.log")
		if err != nil {
			t.Fatal(err)
		}
		if err := m.PowerOff(); err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		for _, path := range []string{pod, m.Netns("")} {
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", path, err)
			}
		}
		if _, err := m.CreatePod("x"); !errors.Is(err, lab.ErrNotAlive) {
			t.Errorf("a pod on a machine that is off: %v", err)
		}
		if _, err := m.Spawn([]string{"true"}, "x"); !errors.Is(err, lab.ErrNotAlive) {
			t.Errorf("a process on a machine that is off: %v", err)
		}
		if err := m.PowerOn(); err != nil {
			t.Fatal(err)
		}
		if !reaches(ms[1], m, netip.MustParseAddr("10.20.0.1"), 5*time.Second) {
			t.Error("the machine does not come back on the management network")
		}
	}
}

// Goal: addresses become exactly those asked for, whatever was there. Method: a story on one machine.
func TestManagement(t *testing.T) {
	_, ms := machines(t, config(t), 1)
	for _, want := range [][]netip.Addr{
		{netip.MustParseAddr("10.20.0.7")},
		{netip.MustParseAddr("10.20.0.7"), netip.MustParseAddr("10.20.0.8"), netip.MustParseAddr("10.21.0.9")},
		{netip.MustParseAddr("10.21.0.9")}, nil, {netip.MustParseAddr("10.20.0.7")},
	} {
		if err := ms[0].SetManagement(want); err != nil {
			t.Fatal(err)
		}
		l, err := probe.Linux(ms[0].Netns, nil, []string{lab.NICDevice, lab.ManagementDevice})
		if err != nil {
			t.Fatal(err)
		}
		link, _ := l.Link("", lab.ManagementDevice)
		var have []netip.Addr
		for _, p := range link.Addrs {
			have = append(have, p.Addr())
		}
		if !slices.Equal(have, want) {
			t.Errorf("have %v, want %v", have, want)
		}
	}
}

// Goal: the sweep finds what a killed lab leaves by its folder and its mark, and what is not there does not matter.
// Method: one process that is recorded, one that is only marked, namespaces; swept twice.
func TestSweep(t *testing.T) {
	s := config(t)
	_, ms := machines(t, s, 2)
	if _, err := ms[0].CreatePod("left"); err != nil {
		t.Fatal(err)
	}
	p, err := ms[0].Spawn([]string{"sleep", "600"}, "sleep.log")
	if err != nil {
		t.Fatal(err)
	}
	q, err := ms[1].Spawn([]string{"sleep", "600"}, "sleep.log")
	if err != nil {
		t.Fatal(err)
	}
	records, err := filepath.Glob(filepath.Join(s.Dir, "2", "process-*"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records %v, %v", records, err)
	}
	if err := os.Remove(records[0]); err != nil {
		t.Fatal(err)
	}
	if ids, err := (Backend{}).Strays(); err != nil || !slices.Contains(ids, s.ID) {
		t.Errorf("strays %v, %v", ids, err)
	}
	for range 2 {
		if err := (Backend{}).Sweep(s.ID, s.Dir); err != nil {
			t.Fatal(err)
		}
	}
	<-p.Done()
	<-q.Done()
	if names, err := fabric.Named(prefix(s.ID)); err != nil || len(names) > 0 {
		t.Errorf("left: %v, %v", names, err)
	}
	if left := spawn.Marked(s.ID); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

// Goal: probes tell what passes and what does not: payloads whole, the MTU's edge exact, a stream's losses counted.
// Method: two machines whose wire is first whole, then cut, then shorter than the MTU.
func TestProbes(t *testing.T) {
	g, ms := machines(t, config(t), 2)
	pair := probe.Pair{From: probe.Place{Name: "a", Netns: ms[0].Netns(""), Addr: wire(1)}, To: probe.Place{Name: "b", Netns: ms[1].Netns(""), Addr: wire(2)}}
	ctx := context.Background()
	for name, o := range map[string]probe.Outcome{
		"ping": probe.Ping(ctx, pair.From, pair.To, 1000, false, 5*time.Second),
		"TCP":  probe.TCP(ctx, pair, 1<<20, 10*time.Second),
		"UDP":  probe.UDP(ctx, pair, 1200, 50, 10*time.Second),
		"edge": probe.Edge(ctx, pair, fabric.WireMTU, 5*time.Second),
	} {
		if o.Err != nil || o.RTT <= 0 {
			t.Errorf("%s: %s %v", name, o.RTT, o.Err)
		}
	}
	if o := probe.Edge(ctx, pair, 1500, 5*time.Second); o.Err == nil {
		t.Error("the edge of 1500 bytes was found on a link of more")
	}
	s, err := probe.StartStream(pair, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // the stream's own time
	if err := g.Cut([][2]string{{"node-1", "node-2"}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if err := g.Cut(nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	r := s.Stop()
	if r.Lost() == 0 || r.Received == 0 || r.Longest < 100*time.Millisecond || r.Lost() > r.Sent {
		t.Errorf("%+v over a cut of 200 ms", r)
	}
	s, err = probe.StartStream(pair, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if r := s.Stop(); r.Lost() != 0 || r.Sent == 0 || r.Twice != 0 {
		t.Errorf("%+v over a whole wire", r)
	}
}

// Goal: a machine whose only NIC is its host's has one link, on the wire, by which its gateway and whoever is behind that reach the host as
// long as it has its address. Method: connections that stay, from both, over the address' loss and return.
func TestOnlyNIC(t *testing.T) {
	s := config(t)
	g, ms := machines(t, s, 0)
	gateway, stranger, addr := netip.MustParseAddr("10.20.255.254"), netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("10.20.0.1")
	outside, err := g.(lab.Wired).Gateway([]netip.Prefix{netip.PrefixFrom(gateway, 16)}, []netip.Addr{stranger})
	if err != nil {
		t.Fatal(err)
	}
	m, err := g.Join(lab.MachineSpec{Name: "node-1", Number: 1, Dir: filepath.Join(s.Dir, "1"), NIC: true, NICMTU: 1500, Management: []netip.Addr{addr}, Gateway: gateway})
	if err != nil {
		t.Fatal(err)
	}
	ms = append(ms, m)
	if err := m.PowerOn(); err != nil {
		t.Fatal(err)
	}
	list, err := m.(*machine).space.LinkList()
	if err != nil || len(list) != 2 {
		t.Errorf("links %v, %v, want lo and %s", list, err, lab.ManagementDevice)
	}
	logins, err := probe.ServeLogins(ms[0].Netns(""))
	if err != nil {
		t.Fatal(err)
	}
	defer logins.Close()
	const pace, patience = 10 * time.Millisecond, time.Second
	for _, from := range []netip.Addr{gateway, stranger} {
		login, err := probe.OpenLogin(probe.Place{Netns: outside, Addr: from}, addr, pace, patience)
		if err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		defer login.Close()
		hears := func(want bool) {
			t.Helper()
			begin := time.Now()
			heard := false
			for !heard && time.Since(begin) < patience {
				time.Sleep(pace)
				last, err := login.Answered()
				if err != nil {
					t.Fatalf("%s: %v", from, err)
				}
				heard = last.After(begin.Add(pace))
			}
			if heard != want {
				t.Errorf("%s: the host answers: %t, want %t", from, heard, want)
			}
		}
		hears(true)
		if err := m.SetManagement(nil); err == nil {
			t.Error("a default route without an address was taken")
		}
		hears(false)
		if err := m.SetManagement([]netip.Addr{addr}); err != nil {
			t.Fatal(err)
		}
		hears(true)
	}
}

package fabric

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// prefix begins the names of this test process's namespaces.
func prefix(t *testing.T) string {
	t.Helper()
	p := fmt.Sprintf("vdf-%d-", os.Getpid())
	if err := Check("netns", p); err != nil {
		t.Skip(err.Error())
	}
	t.Cleanup(func() {
		names, err := Named(p)
		for _, n := range names {
			t.Errorf("left: %s", n)
			err = errors.Join(err, Remove(n))
		}
		if err != nil {
			t.Error(err)
		}
	})
	return p
}

// links are the names of the links in a namespace, sorted; those of isolated bridge ports end with "!".
func links(t *testing.T, s *Space) []string {
	t.Helper()
	list, err := s.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range list {
		name := l.Attrs().Name
		if p, err := s.LinkGetProtinfo(l); err == nil && p.Isolated {
			name += "!"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// machines joins n machines with NICs to a fabric.
func machines(t *testing.T, p string, n int) (*Fabric, []*Space, []lab.MachineSpec) {
	t.Helper()
	f, err := New(p + "fabric")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	var spaces []*Space
	var specs []lab.MachineSpec
	for i := 1; i <= n; i++ {
		spec := lab.MachineSpec{Name: fmt.Sprintf("node-%d", i), Number: uint32(i), NIC: true, NICMTU: 1500}
		s := netnsOf(t, p+spec.Name)
		if err := f.Join(s, spec); err != nil {
			t.Fatal(err)
		}
		spaces, specs = append(spaces, s), append(specs, spec)
	}
	return f, spaces, specs
}

// netnsOf makes and opens a namespace for one test.
func netnsOf(t *testing.T, name string) *Space {
	t.Helper()
	if err := Create(name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Remove(name); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(Path(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Goal: machines join and leave, and join again while what is left of the last time may still be there; a machine
// without a NIC has no wire. Method: the links of both sides by name.
func TestJoin(t *testing.T) {
	p := prefix(t)
	f, spaces, specs := machines(t, p, 2)
	check := func(what string, s *Space, want ...string) {
		t.Helper()
		if have := links(t, s); !slices.Equal(have, want) {
			t.Errorf("%s: %v, want %v", what, have, want)
		}
	}
	check("the fabric", f.Space, "lo", "m1", "m2", "mgmt", "w1", "w2", "wire")
	check("node-1", spaces[0], lab.ManagementDevice, "lo", lab.NICDevice)
	again := netnsOf(t, p+"again")
	if err := f.Join(again, specs[0]); err != nil {
		t.Errorf("a machine that boots before its last links are gone: %v", err)
	}
	check("node-1, which lost its links", spaces[0], "lo")
	check("node-1 again", again, lab.ManagementDevice, "lo", lab.NICDevice)
	for range 2 {
		if err := f.Leave(specs[0]); err != nil {
			t.Errorf("leave: %v", err)
		}
	}
	check("the fabric with a machine less", f.Space, "lo", "m2", "mgmt", "w2", "wire")
	specs[0].NIC = false
	if err := f.Join(again, specs[0]); err != nil {
		t.Fatal(err)
	}
	check("a machine without a NIC", again, lab.ManagementDevice, "lo")
	if boot := VPPBoot(specs[0]); boot != nil {
		t.Errorf("VPP takes an interface that is not there: %q", boot)
	}
}

// Goal: exactly the ports that are cut are isolated, and a cut that the bridge cannot make changes nothing. Method: a
// table, each row on what the one before has left.
func TestCut(t *testing.T) {
	f, _, _ := machines(t, prefix(t), 3)
	for _, row := range []struct {
		pairs string
		want  string
	}{
		{"", "w1 w2 w3"},
		{"1-2", "w1! w2! w3"},
		{"2-3 3-2", "w1 w2! w3!"},
		{"1-2 2-3", "unsupported"},
		{"1-2 2-3 3-1", "w1! w2! w3!"},
		{"", "w1 w2 w3"},
	} {
		var pairs [][2]string
		for _, word := range strings.Fields(row.pairs) {
			pairs = append(pairs, [2]string{"node-" + word[:1], "node-" + word[2:]})
		}
		err := f.Cut(pairs)
		if row.want == "unsupported" {
			if !errors.Is(err, result.ErrUnsupported) {
				t.Errorf("%q: %v", row.pairs, err)
			}
			continue
		}
		have := slices.DeleteFunc(links(t, f.Space), func(n string) bool { return n[0] != 'w' || n == Wire })
		if text := strings.Join(have, " "); err != nil || text != row.want {
			t.Errorf("%q: %s, %v, want %s", row.pairs, text, err, row.want)
		}
	}
}

// Goal: a link's addresses become exactly those asked for, whatever was there: deleting the first of a subnet takes the
// others of it along. Method: every change from one list to another of a few.
func TestSetAddresses(t *testing.T) {
	s := netnsOf(t, prefix(t)+"addresses")
	lists := [][]netip.Prefix{nil}
	for _, text := range []string{"10.20.0.7/16", "10.20.0.7/16 10.20.0.8/16", "10.20.0.8/16 10.20.0.9/16", "10.20.0.8/16 10.21.0.1/24", "10.20.0.9/24"} {
		var list []netip.Prefix
		for _, word := range strings.Fields(text) {
			list = append(list, netip.MustParsePrefix(word))
		}
		lists = append(lists, list)
	}
	for _, from := range lists {
		for _, to := range lists {
			for _, want := range [][]netip.Prefix{from, to} {
				if err := s.SetAddresses("lo", want); err != nil {
					t.Fatalf("%v to %v: %v", from, to, err)
				}
			}
			var have []string
			if err := spawn.Inside(s.path, func() error {
				lo, err := net.InterfaceByName("lo")
				if err != nil {
					return err
				}
				addrs, err := lo.Addrs()
				for _, a := range addrs {
					have = append(have, a.String())
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, p := range to {
				want = append(want, p.String())
			}
			slices.Sort(have)
			slices.Sort(want)
			if !slices.Equal(have, want) {
				t.Errorf("%v to %v: %v", from, to, have)
			}
		}
	}
}

// Goal: labs that start at once do not find each other's trial namespaces in their way, and what a killed process has
// left of its own goes with the next trial, while that of a living one stays. Method: many trials at once; a namespace
// of a process that has ended.
func TestTry(t *testing.T) {
	p := prefix(t)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	left, living := fmt.Sprintf("%scheck-%d-1", p, gone.Process.Pid), fmt.Sprintf("%scheck-%d-x", p, os.Getpid())
	for _, name := range []string{left, living} {
		if err := Create(name); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if err := Try(p, func(name string) error {
				_, err := os.Stat(Path(name))
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if names, err := Named(p); err != nil || !slices.Equal(names, []string{living}) {
		t.Errorf("there is %v, %v; want %s", names, err, living)
	}
	if err := Remove(living); err != nil {
		t.Error(err)
	}
	if err := Create(living); err != nil {
		t.Fatal(err)
	}
	if err := Create(living); !errors.Is(err, os.ErrExist) {
		t.Errorf("a namespace was made twice: %v", err)
	}
	for range 2 {
		if err := Remove(living); err != nil {
			t.Error(err)
		}
	}
}

// Goal: what is no name of a namespace is neither made nor removed. Method: names that would be another file.
func TestNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "../netns"} {
		if err := check(name); err == nil {
			t.Fatalf("%q was taken for a name", name) // and what follows is not tried
		}
		if Create(name) == nil || Remove(name) == nil {
			t.Errorf("%q was made or removed", name)
		}
	}
}

// Goal: a kernel without netem is told from one with it, and nothing stays. Method: either answer will do.
func TestNetem(t *testing.T) {
	p := prefix(t)
	t.Logf("netem: %v", TryNetem(p))
}

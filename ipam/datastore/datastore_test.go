package datastore

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"pgregory.net/rapid"
)

// Goal: DataStore does exactly what its slow twin does, through failing checkpoints and restarts, and its accounts add
// up after every operation. Method: rapid drives both with few ENIs, addresses and pods, so that every corner is near.

var (
	epoch   = time.Unix(1700000000, 0).UTC()
	errDisk = errors.New("disk full")
)

func key(n int) IPAMKey {
	return IPAMKey{NetworkName: "aws-cni", ContainerID: fmt.Sprintf("c%02d", n), IfName: "eth0"}
}

func addr(text string) netip.Addr     { return netip.MustParseAddr(text) }
func prefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }

// bench is a store with a clock and a file that can fail.
type bench struct {
	now  time.Time
	file *TestCheckpoint
	ds   *DataStore
}

func newBench(phase int) *bench {
	b := &bench{now: epoch, file: NewTestCheckpoint(CheckpointData{Version: CheckpointFormatVersion})}
	b.ds = b.fresh(phase)
	return b
}

func (b *bench) fresh(phase int) *DataStore {
	ds := NewDataStore(nil, b.file, func() time.Time { return b.now })
	ds.CheckpointMigrationPhase = phase
	return ds
}

func (b *bench) wait(d time.Duration) { b.now = b.now.Add(d) }

// restarted is a new store on the same file with the same ENIs.
func (b *bench) restarted() (*DataStore, error) {
	ds := b.fresh(b.ds.CheckpointMigrationPhase)
	for _, e := range b.ds.enis {
		if err := ds.AddENI(e.id, e.device, e.primary, e.trunk); err != nil {
			return nil, err
		}
		ds.eni(e.id).created = e.created
		for _, u := range e.units {
			if err := ds.AddIPv4CidrToStore(e.id, u); err != nil {
				return nil, err
			}
		}
	}
	return ds, ds.ReadBackingStore()
}

type machine struct {
	*bench
	slow *slow
}

var universe = []netip.Prefix{
	prefix("10.0.0.1/32"), prefix("10.0.0.2/32"), prefix("10.0.0.3/32"), prefix("10.0.0.17/32"), prefix("10.0.1.1/32"),
	prefix("10.0.1.2/32"), prefix("10.0.0.16/28"),
}

func (m *machine) same(t *rapid.T, what string, have, want error) {
	if !errors.Is(have, want) || (have == nil) != (want == nil) {
		t.Fatalf("%s: %v, want %v", what, have, want)
	}
}

func (m *machine) actions() map[string]func(*rapid.T) {
	eniOf := func(t *rapid.T) string { return fmt.Sprintf("eni-%d", rapid.IntRange(0, 3).Draw(t, "eni")) }
	unitOf := func(t *rapid.T) netip.Prefix { return rapid.SampledFrom(universe).Draw(t, "unit") }
	return map[string]func(*rapid.T){
		"add-eni": func(t *rapid.T) {
			n := rapid.IntRange(0, 3).Draw(t, "eni")
			id := fmt.Sprintf("eni-%d", n)
			device := rapid.IntRange(0, 2).Draw(t, "device")
			m.same(t, "add "+id, m.ds.AddENI(id, device, n == 0, n == 3), m.slow.addENI(id, device, n == 0, n == 3))
		},
		"add": func(t *rapid.T) {
			id, u := eniOf(t), unitOf(t)
			m.same(t, "add "+u.String(), m.ds.AddIPv4CidrToStore(id, u), m.slow.add(id, u))
		},
		"delete": func(t *rapid.T) {
			id, u, force := eniOf(t), unitOf(t), rapid.Bool().Draw(t, "force")
			m.same(t, "delete "+u.String(), m.ds.DelIPv4CidrFromStore(id, u, force), m.slow.del(id, u, force))
		},
		"remove-eni": func(t *rapid.T) {
			id, force := eniOf(t), rapid.Bool().Draw(t, "force")
			m.same(t, "remove "+id, m.ds.RemoveENIFromDataStore(id, force), m.slow.remove(id, force))
		},
		"remove-unused": func(t *rapid.T) {
			warm, minimum := rapid.IntRange(0, 4).Draw(t, "warm"), rapid.IntRange(0, 4).Draw(t, "min")
			could := m.ds.DeletableENIs(warm, minimum)
			have, want := m.ds.RemoveUnusedENIFromStore(warm, minimum), m.slow.removeUnused(warm, minimum)
			if have != want || (have == "") != (len(could) == 0) || have != "" && !slices.Contains(could, have) {
				t.Fatalf("removed %q, want %q; deletable were %v", have, want, could)
			}
		},
		"assign":   m.assign,
		"unassign": m.unassign,
		"time": func(t *rapid.T) {
			m.wait(rapid.SampledFrom([]time.Duration{1, time.Second, 15 * time.Second, 30 * time.Second}).Draw(t, "time"))
			m.slow.now = m.now
		},
		"disk": func(t *rapid.T) {
			m.file.Error = rapid.SampledFrom([]error{nil, errDisk}).Draw(t, "error")
			m.slow.fail = m.file.Error
		},
	}
}

func (m *machine) assign(t *rapid.T) {
	k := key(rapid.IntRange(0, 9).Draw(t, "pod"))
	if m.ds.dirty && m.slow.holder(k) != nil && m.slow.fail != nil {
		if _, _, err := m.ds.AssignPodIPv4Address(k); !errors.Is(err, errDisk) {
			t.Fatalf("while the file is in doubt: %v", err)
		}
		return
	}
	a, device, err := m.ds.AssignPodIPv4Address(k)
	b, twin, want := m.slow.assign(k)
	m.sameAddress(t, "assign "+k.String(), answer{a, device, err}, answer{b, twin, want})
}

func (m *machine) unassign(t *rapid.T) {
	k := key(rapid.IntRange(0, 9).Draw(t, "pod"))
	a, device, err := m.ds.UnassignPodIPv4Address(k)
	b, twin, want := m.slow.unassign(k)
	m.sameAddress(t, "unassign "+k.String(), answer{a, device, err}, answer{b, twin, want})
}

// answer is what a store says about one pod's address.
type answer struct {
	addr   netip.Addr
	device int
	err    error
}

func (m *machine) sameAddress(t *rapid.T, what string, have, want answer) {
	t.Helper()
	m.same(t, what, have.err, want.err)
	if have.addr != want.addr || have.device != want.device {
		t.Fatalf("%s: %s on %d, want %s on %d", what, have.addr, have.device, want.addr, want.device)
	}
}

func (m *machine) compare(t *rapid.T) {
	have, want := m.ds.GetIPStats(), m.slow.stats()
	checkAccounts(t, m.ds.node)
	have.ForceRemovedENIs, have.ForceRemovedIPs = 0, 0
	if have != want || have.AvailableAddresses() < 0 {
		t.Fatalf("account %+v, want %+v", have, want)
	}
	held := make(map[IPAMKey]netip.Addr)
	for _, p := range append(m.ds.AllocatedIPs(), m.ds.Orphans()...) {
		held[p.IPAMKey] = p.IP
	}
	if !maps.Equal(held, m.slow.assigned()) {
		t.Fatalf("assigned %v, want %v", held, m.slow.assigned())
	}
	for _, id := range m.slow.order() {
		want := slices.SortedFunc(slices.Values(m.slow.units(id)), netip.Prefix.Compare)
		if have := m.ds.Units(id); !slices.Equal(have, want) {
			t.Fatalf("%s has %v, want %v", id, have, want)
		}
		assignedTo := 0
		for _, a := range m.ds.GetENIInfos().ENIs[id].IPv4Addresses {
			if a.Assigned() {
				assignedTo++
			}
		}
		if assignedTo != m.ds.sum(m.ds.eni(id))[assigned] {
			t.Fatalf("%s: %d assigned", id, assignedTo)
		}
	}
	if !slices.Equal(m.ds.ENIIDs(), m.slow.order()) {
		t.Fatalf("ENIs %v, want %v", m.ds.ENIIDs(), m.slow.order())
	}
}

// restart compares what the file gives back, when nothing is in doubt.
func (m *machine) restart(t *rapid.T) {
	if m.file.Error != nil {
		t.Skip("the disk does not answer")
	}
	if m.ds.dirty {
		if err := m.ds.Flush(); err != nil {
			t.Fatal(err)
		}
		_ = m.slow.write()
	}
	ds, err := m.restarted()
	if err != nil {
		t.Fatal(err)
	}
	m.ds = ds
	m.slow.restart()
	// An address that an orphan had long before is written with the next change only; the same holds for release times of
	// claims. Times that the file has must be the same.
	for _, x := range m.slow.addrs {
		if cools := m.ds.node.addrs.state(x.addr) == cooling; x.key.IsZero() && m.slow.cools(x.released) != cools {
			t.Fatalf("%s cools: %v after a restart", x.addr, cools)
		}
	}
}

func TestDataStoreAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{bench: newBench(2), slow: newSlow(epoch)}
		actions := m.actions()
		actions["restart"] = m.restart
		actions[""] = m.compare
		t.Repeat(actions)
	})
}

// node is a store with one ENI of n addresses 10.0.0.1 and up.
func node(t testing.TB, n int) *bench {
	t.Helper()
	b := newBench(2)
	b.must(t, b.ds.AddENI("eni-0", 0, true, false))
	a := addr("10.0.0.0")
	for range n {
		a = a.Next()
		b.must(t, b.ds.AddIPv4AddressToStore("eni-0", a))
	}
	return b
}

func (b *bench) must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) assign(t testing.TB, n int) netip.Addr {
	t.Helper()
	a, _, err := b.ds.AssignPodIPv4Address(key(n))
	b.must(t, err)
	return a
}

func (b *bench) unassign(t testing.TB, n int) {
	t.Helper()
	_, _, err := b.ds.UnassignPodIPv4Address(key(n))
	b.must(t, err)
}

// The boundary of cooling is inclusive: 30 s after its release an address still cools, a nanosecond later it does not;
// a restart in between does not change that.
func TestCoolingBoundaryThroughARestart(t *testing.T) {
	for _, restart := range [...]bool{false, true} {
		b := node(t, 1)
		b.assign(t, 1)
		b.wait(time.Second)
		b.unassign(t, 1)
		if restart {
			ds, err := b.restarted()
			b.must(t, err)
			b.ds = ds
		}
		b.wait(30 * time.Second)
		_, device, err := b.ds.AssignPodIPv4Address(key(2))
		var full *ExhaustedError
		if !errors.As(err, &full) || device != -1 || !errors.Is(err, ipam.ErrExhausted) || !errors.Is(err, ErrNoAvailableIPs) {
			t.Fatalf("restart %v, after 30 s: %v", restart, err)
		}
		if full.CooldownIPs != 1 || !full.FreeAt.Equal(b.now.Add(1)) || full.Detail() != "1 addresses: 0 assigned, 1 cooling, 0 set aside" {
			t.Errorf("restart %v: %s, free at %s", restart, full.Detail(), full.FreeAt)
		}
		b.wait(1)
		b.assign(t, 2)
	}
}

// A wrong clock must not make an address cool for years.
func TestReleaseInTheFutureCountsFromNow(t *testing.T) {
	b := node(t, 1)
	b.file.Data = CheckpointData{Version: CheckpointFormatVersion, Cooling: []CoolingEntry{{IPv4: addr("10.0.0.1"), Released: epoch.Add(1000 * time.Hour)}}}
	b.must(t, b.ds.ReadBackingStore())
	b.wait(30*time.Second + 1)
	b.assign(t, 1)
}

// An ENI that goes away with live pods and comes back has them still, through a restart too; while it is gone their
// DEL ends their claims, and what they had cools when it is back.
func TestENIWithLivePodsNeverComesBackEmpty(t *testing.T) {
	b := node(t, 3)
	first, second := b.assign(t, 1), b.assign(t, 2)
	b.must(t, b.ds.RemoveENIFromDataStore("eni-0", true))
	if s := b.ds.GetIPStats(); s.TotalIPs != 0 || s.ForceRemovedENIs != 1 || s.ForceRemovedIPs != 2 {
		t.Fatalf("account %+v", s)
	}
	ds, err := b.restarted()
	b.must(t, err)
	b.ds = ds
	if _, _, err := b.ds.UnassignPodIPv4Address(key(2)); !errors.Is(err, ErrUnknownPod) {
		t.Fatalf("unassign while it is gone: %v", err)
	}
	b.wait(time.Minute - 40*time.Second)
	b.must(t, b.ds.AddENI("eni-0", 0, false, false), b.ds.AddIPv4AddressToStore("eni-0", first), b.ds.AddIPv4AddressToStore("eni-0", second))
	if p, ok := b.ds.Lookup(key(1)); !ok || p.IP != first {
		t.Fatalf("the pod lost %s", first)
	}
	if s := b.ds.GetIPStats(); s.AssignedIPs != 1 || s.CooldownIPs != 1 {
		t.Fatalf("account %+v", s)
	}
	b.wait(2 * time.Minute)
	if id := b.ds.RemoveUnusedENIFromStore(0, 0); id != "" {
		t.Fatalf("removed %s under a pod", id)
	}
}

// A sandbox that asks again does not use the address that it cannot have had.
func TestAskingAgainEndsAnOrphansClaim(t *testing.T) {
	b := node(t, 2)
	old := b.assign(t, 1)
	b.must(t, b.ds.DelIPv4AddressFromStore("eni-0", old, true))
	if a := b.assign(t, 1); a == old || len(b.ds.Orphans()) != 0 {
		t.Fatalf("have %s, orphans %v", a, b.ds.Orphans())
	}
	b.must(t, b.ds.AddIPv4AddressToStore("eni-0", old))
	if s := b.ds.GetIPStats(); s.AssignedIPs != 1 {
		t.Fatalf("account %+v", s)
	}
}

// What the file says that makes no sense is set aside with a reason; everything else is restored, and no address that a
// damaged entry names is given to anybody.
func TestDamagedEntriesAreQuarantined(t *testing.T) {
	b := node(t, 6)
	b.file.Data = mustParse(t, `{"version":"vpc-cni-ipam/1","allocations":[
		{"networkName":"aws-cni","containerID":"c01","ifName":"eth0","ipv4":"10.0.0.1","metadata":{"k8sPodName":"web"}},
		{"networkName":"aws-cni","containerID":"c02","ifName":"eth0","ipv4":"10.0.0.1"},
		{"networkName":"aws-cni","containerID":"c01","ifName":"eth0","ipv4":"10.0.0.2"},
		{"networkName":"","containerID":"c03","ifName":"eth0","ipv4":"10.0.0.3"},
		{"networkName":"aws-cni","containerID":7,"ifName":"eth0","ipv4":"10.0.0.4"},
		{"networkName":"aws-cni","containerID":"c05","ifName":"eth0","ipv4":"ten"},
		"nonsense"],"cooling":[{"ipv4":"10.0.0.5"}]}`)
	err := b.ds.ReadBackingStore()
	var q *QuarantineError
	if !errors.As(err, &q) || !errors.Is(err, ErrQuarantined) || len(q.Entries) != 7 || len(b.ds.Quarantined()) != 7 {
		t.Fatalf("%v", err)
	}
	if p, ok := b.ds.Lookup(key(1)); !ok || p.IP != addr("10.0.0.1") {
		t.Fatal("the live lease is lost")
	}
	for range 2 {
		s := b.ds.GetIPStats()
		if s.QuarantinedIPs != 4 || s.AssignedIPs != 1 || s.AvailableAddresses() != 1 {
			t.Fatalf("account %+v", s)
		}
		// Another life knows the same.
		ds, err := b.restarted()
		if !errors.Is(err, ErrQuarantined) {
			t.Fatalf("restart: %v", err)
		}
		b.ds = ds
	}
	if a := b.assign(t, 9); a != addr("10.0.0.6") {
		t.Fatalf("assigned %s", a)
	}
	d := b.file.Data.(CheckpointData)
	if len(d.Damaged) != 7 || string(d.Allocations[0].Extra[0].Value) != `{"k8sPodName":"web"}` {
		t.Fatalf("the checkpoint lost something: %s", d.AppendJSON(nil))
	}
	// The owner of a claim that is not believed goes, and its claim with it.
	if _, _, err := b.ds.UnassignPodIPv4Address(key(2)); !errors.Is(err, ErrUnknownPod) || len(b.ds.Quarantined()) != 6 {
		t.Fatalf("%v, %d left", err, len(b.ds.Quarantined()))
	}
	b.unassign(t, 1)
	b.must(t, b.ds.Discharge())
	if s := b.ds.GetIPStats(); s.QuarantinedIPs != 0 || s.CooldownIPs != 5 {
		t.Fatalf("account %+v", s)
	}
}

func mustParse(t testing.TB, text string) CheckpointData {
	t.Helper()
	d, err := ParseCheckpoint([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A file that cannot be read is no proof that there are no pods: nothing is assigned and the file is left alone until
// it can.
func TestUnreadableStoreAssignsAndWritesNothing(t *testing.T) {
	b := node(t, 2)
	good := b.file.Data
	for _, broken := range [...]any{map[string]string{"version": "vpc-cni-ipam/2"}, []int{1}, map[string]any{"version": "vpc-cni-ipam/1", "allocations": 3}} {
		b.file.Data = broken
		err := b.ds.ReadBackingStore()
		if !errors.Is(err, ErrBackingStore) && !errors.Is(err, ErrUnknownFormat) {
			t.Fatalf("%v was read: %v", broken, err)
		}
		_, _, assignErr := b.ds.AssignPodIPv4Address(key(1))
		_, _, unassignErr := b.ds.UnassignPodIPv4Address(key(1))
		_, sweepErr := b.ds.Sweep(nil)
		for _, e := range [...]error{assignErr, unassignErr, sweepErr, b.ds.Discharge()} {
			if e == nil || e.Error() != err.Error() {
				t.Errorf("%v, want %v", e, err)
			}
		}
	}
	b.file.Data = good
	b.must(t, b.ds.ReadBackingStore())
	b.assign(t, 1)
}

// While the file may say something else than memory, even an idempotent answer waits for a write.
func TestDoubtfulWriteIsRepeatedBeforeAnybodyIsTold(t *testing.T) {
	b := node(t, 1)
	b.assign(t, 1)
	before := b.file.Data
	b.file.Error = fmt.Errorf("%w: %w", ErrUncertain, errDisk)
	if _, _, err := b.ds.UnassignPodIPv4Address(key(1)); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	b.file.Data = CheckpointData{Version: CheckpointFormatVersion} // the write had come through
	if _, _, err := b.ds.AssignPodIPv4Address(key(1)); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	b.file.Error = nil
	b.assign(t, 1)
	if have, want := b.file.Data.(CheckpointData), before.(CheckpointData); string(have.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
		t.Fatalf("the file says %s", have.AppendJSON(nil))
	}
}

// Sweep ends what lost DELs left, and nothing else; a failing checkpoint leaves all as it was.
func TestSweep(t *testing.T) {
	b := node(t, 4)
	for n := range 4 {
		b.assign(t, n)
	}
	last, _ := b.ds.Lookup(key(3))
	gone := last.IP
	b.must(t, b.ds.DelIPv4AddressFromStore("eni-0", gone, true))
	b.file.Error = errDisk
	if _, err := b.ds.Sweep([]IPAMKey{key(1)}); !errors.Is(err, errDisk) || b.ds.GetIPStats().AssignedIPs != 3 || len(b.ds.Orphans()) != 1 {
		t.Fatalf("%v %+v %v", err, b.ds.GetIPStats(), b.ds.Orphans())
	}
	b.file.Error = nil
	swept, err := b.ds.Sweep([]IPAMKey{key(1)})
	if err != nil || len(swept) != 2 || swept[0].IPAMKey != key(0) || swept[1].IPAMKey != key(2) || len(b.ds.Orphans()) != 0 {
		t.Fatalf("%v %v", swept, err)
	}
	if s := b.ds.GetIPStats(); s.AssignedIPs != 1 || s.CooldownIPs != 2 {
		t.Fatalf("account %+v", s)
	}
	if swept, err := b.ds.Sweep([]IPAMKey{key(1)}); err != nil || swept != nil {
		t.Fatalf("again: %v %v", swept, err)
	}
}

// scripted plays a container runtime.
type scripted struct {
	list []SandboxInfo
	err  error
}

func (s scripted) GetRunningPodSandboxes() ([]SandboxInfo, error) { return s.list, s.err }

// Each phase believes the source that it names; a runtime that tells of nobody is not believed against the file.
func TestMigrationPhases(t *testing.T) {
	file := `{"version":"vpc-cni-ipam/1","allocations":[{"networkName":"aws-cni","containerID":"c01","ifName":"eth0","ipv4":"10.0.0.1"},
		{"networkName":"aws-cni","containerID":"c02","ifName":"eth0","ipv4":"10.0.0.2"}]}`
	one := scripted{list: []SandboxInfo{{ID: "c01", IP: addr("10.0.0.1"), Ready: true}, {ID: "c09", IP: addr("::ffff:10.0.0.3"), Ready: true}, {ID: "x", Ready: true}}}
	for name, c := range map[string]struct {
		phase int
		cri   CRI
		want  string // assignments
		err   error
		wrote bool
	}{
		"0 reads the runtime":         {0, one, "_migrated-from-cri/c01/unknown=10.0.0.1 _migrated-from-cri/c09/unknown=10.0.0.3", nil, false},
		"1 joins both":                {1, one, "aws-cni/c01/eth0=10.0.0.1 _migrated-from-cri/c09/unknown=10.0.0.3", nil, true},
		"1 with an empty runtime":     {1, scripted{}, "aws-cni/c01/eth0=10.0.0.1 aws-cni/c02/eth0=10.0.0.2", nil, true},
		"1 with a runtime that fails": {1, scripted{err: errDisk}, "", ErrBackingStore, false},
		"1 without a runtime":         {1, nil, "", ErrMigrationPhase, false},
		"2 reads the file":            {2, one, "aws-cni/c01/eth0=10.0.0.1 aws-cni/c02/eth0=10.0.0.2", nil, false},
		"3 reads the file":            {3, nil, "aws-cni/c01/eth0=10.0.0.1 aws-cni/c02/eth0=10.0.0.2", nil, false},
		"4 is none":                   {4, one, "", ErrMigrationPhase, false},
	} {
		b := node(t, 3)
		b.ds.CheckpointMigrationPhase, b.ds.CRI = c.phase, c.cri
		data := mustParse(t, file)
		b.file.Data = &data
		if err := b.ds.ReadBackingStore(); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		var have []string
		for _, p := range b.ds.AllocatedIPs() {
			have = append(have, p.IPAMKey.String()+"="+p.IP.String())
		}
		_, wrote := b.file.Data.(CheckpointData)
		if strings.Join(have, " ") != c.want || wrote != c.wrote {
			t.Errorf("%s: %v, written %v", name, have, wrote)
		}
	}
}

// A CNI DEL finds what the runtime told of its container.
func TestBackfilledAddressIsUnassignedByItsContainer(t *testing.T) {
	b := node(t, 1)
	b.ds.CheckpointMigrationPhase = 1
	b.ds.CRI = scripted{list: []SandboxInfo{{ID: "c01", IP: addr("10.0.0.1"), Ready: true}}}
	b.must(t, b.ds.ReadBackingStore())
	if a, _, err := b.ds.UnassignPodIPv4Address(key(1)); err != nil || a != addr("10.0.0.1") {
		t.Fatal(a, err)
	}
}

func TestErrorTexts(t *testing.T) {
	b := node(t, 1)
	for text, err := range map[string]error{
		DuplicatedENIError:                             b.ds.AddENI("eni-0", 0, true, false),
		IPAlreadyInStoreError:                          b.ds.AddIPv4AddressToStore("eni-0", addr("::ffff:10.0.0.1")),
		UnknownIPError:                                 b.ds.DelIPv4AddressFromStore("eni-0", addr("10.0.0.9"), false),
		UnknownENIError:                                b.ds.RemoveENIFromDataStore("eni-9", true),
		"add ENI's IP to datastore: unknown ENI":       b.ds.AddIPv4AddressToStore("eni-9", addr("10.0.0.9")),
		"datastore: not an IPv4 address":               b.ds.AddIPv4AddressToStore("eni-0", addr("2001:db8::1")),
		"datastore: invalid IPAM key, a part is empty": func() error { _, _, err := b.ds.AssignPodIPv4Address(IPAMKey{}); return err }(),
		"datastore: unknown pod":                       func() error { _, _, err := b.ds.UnassignPodIPv4Address(IPAMKey{}); return err }(),
	} {
		if err == nil || err.Error() != text {
			t.Errorf("have %v, want %q", err, text)
		}
	}
	if err := b.ds.AddIPv4AddressToStore("eni-9", addr("10.0.0.9")); !errors.Is(err, ErrUnknownENI) {
		t.Error(err)
	}
	b.assign(t, 1)
	if err := b.ds.DelIPv4AddressFromStore("eni-0", addr("10.0.0.1"), false); err == nil || err.Error() != IPInUseError {
		t.Error(err)
	}
	if err := b.ds.RemoveENIFromDataStore("eni-0", false); err == nil || err.Error() != ENIInUseError {
		t.Error(err)
	}
	if _, _, err := b.ds.AssignPodIPv4Address(key(2)); err == nil || err.Error() != "assignPodIPv4AddressUnsafe: no available IP addresses" {
		t.Error(err)
	}
}

// What getters return is a copy.
func TestSnapshotsAreCopies(t *testing.T) {
	b := node(t, 2)
	a := b.assign(t, 1)
	infos := b.ds.GetENIInfos()
	mine := infos.ENIs["eni-0"].IPv4Addresses[a]
	if infos.TotalIPs != 2 || infos.AssignedIPs != 1 || mine.IPAMKey != key(1) {
		t.Errorf("%+v has %+v", infos, mine)
	}
	mine.IPAMKey = IPAMKey{}
	if _, ok := b.ds.Lookup(key(1)); !ok || b.ds.GetENIInfos().ENIs["eni-0"].IPv4Addresses[a].IPAMKey != key(1) {
		t.Error("changing a copy changed the store")
	}
}

package datastore_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

var epoch = time.Unix(1700000000, 0).UTC()

// world is one node: a Manager with its store, pods, and the modelled EC2. Time passes in it only.
type world struct {
	t       tb
	now     time.Time
	sizing  datastore.Sizing
	ec2     *ec2.Instance
	file    *datastore.TestCheckpoint
	ds      *datastore.DataStore
	manager *datastore.Manager
	wake    time.Time
	// answer is the result that is under way, and when it arrives.
	answer *datastore.Result
	due    time.Time
	call   datastore.Call
	notes  []string
	pods   map[datastore.IPAMKey]netip.Addr // what clients were told
	// mangle changes answers before they are sent; true drops the answer.
	mangle func(c datastore.Call, r *datastore.Result) bool
	// setUp fails for these ENIs.
	setUpFails map[string]bool
	wantTrunk  int
	next       int
}

// tb is what testing.T and rapid.T have in common, as far as it is needed.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

type option func(*ec2.Config, *datastore.Sizing)

// newWorld starts a node of an instance type in a /24 with the usual delays.
func newWorld(t tb, instance string, targets datastore.Targets, options ...option) *world {
	t.Helper()
	limits, ok := datastore.LimitsOf(instance)
	if !ok {
		t.Fatalf("no instance type %s", instance)
	}
	cfg := ec2.Config{
		Limits: ec2.Limits(limits), Subnet: ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/24")),
		AttachDelay: 3 * time.Second, MetadataLag: 2 * time.Second,
	}
	sizing := datastore.Sizing{Targets: targets, ENIsMax: limits.ENIs, UnitsPerENI: limits.IPv4PerENI - 1}
	for _, o := range options {
		o(&cfg, &sizing)
	}
	machine, err := ec2.New(epoch, cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, now: epoch, sizing: sizing, ec2: machine, file: datastore.NewTestCheckpoint(nil),
		pods: make(map[datastore.IPAMKey]netip.Addr), setUpFails: make(map[string]bool),
	}
	w.start()
	return w
}

// start is a new life of the agent on the same file and EC2.
func (w *world) start() {
	w.ds = datastore.NewDataStore(nil, w.file, func() time.Time { return w.now })
	w.ds.CheckpointMigrationPhase = 2
	w.manager = datastore.NewManager(w.ds, w.sizing)
	w.answer, w.wake = nil, w.now
}

// run lets time pass.
func (w *world) run(d time.Duration) {
	w.t.Helper()
	end := w.now.Add(d)
	for {
		switch {
		case w.answer != nil && !w.due.After(end) && !w.wake.Before(w.due):
			w.now = later(w.now, w.due)
			r := *w.answer
			w.answer = nil
			w.effects(w.manager.Step(w.now, datastore.Called{Result: r}))
		case !w.wake.After(end):
			w.now = later(w.now, w.wake)
			w.effects(w.manager.Step(w.now, datastore.Woke{}))
		default:
			w.now = end
			return
		}
		w.check()
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (w *world) effects(list []datastore.Effect) {
	for _, e := range slices.Clone(list) {
		switch e := e.(type) {
		case datastore.Perform:
			w.perform(e.Call)
		case datastore.WakeAt:
			w.wake = e.At
		case datastore.WantTrunk:
			w.wantTrunk++
		case datastore.Note:
			w.notes = append(w.notes, e.Text)
		}
	}
}

func (w *world) perform(c datastore.Call) {
	r := datastore.Result{Number: c.Number}
	due := w.now.Add(50 * time.Millisecond)
	switch c.Op {
	case datastore.DescribeENIs:
		enis, err := w.ec2.Describe(w.now)
		r.ENIs, r.Err = attached(enis), err
	case datastore.ReadIMDS:
		r.ENIs = attached(w.ec2.Metadata(w.now))
	case datastore.SetUpENI:
		if w.setUpFails[c.ENI] {
			r.Err = errors.New("no such device")
		}
	case datastore.AssignUnits:
		r.Prefixes, r.Err = w.ec2.Assign(w.now, c.ENI, c.Units, c.Delegated)
	case datastore.UnassignUnits:
		r.Err = w.ec2.Unassign(w.now, c.ENI, c.Prefixes)
	case datastore.CreateENI:
		var e ec2.ENI
		e, due, r.Err = w.ec2.Create(w.now, c.Units, c.Delegated)
		r.ENIs = attached([]ec2.ENI{e})
	case datastore.DeleteENI:
		r.Err = w.ec2.Delete(w.now, c.ENI)
	}
	w.call = c
	if w.mangle != nil && w.mangle(c, &r) {
		return
	}
	w.answer, w.due = &r, due
}

func attached(enis []ec2.ENI) (list []datastore.AttachedENI) {
	for _, e := range enis {
		list = append(list, datastore.AttachedENI{
			ID: e.ID, Device: e.Device, Primary: e.Primary, Trunk: e.Trunk, Tags: e.Tags, Units: e.Units,
		})
	}
	return list
}

// check is what must hold at every moment: no address has two pods, every pod has what it was told or a claim to it,
// and the account adds up.
func (w *world) check() {
	w.t.Helper()
	seen := make(map[netip.Addr]datastore.IPAMKey)
	for k, a := range w.pods {
		if other, ok := seen[a]; ok {
			w.t.Fatalf("%s: %s and %s both have %s", w.now, k, other, a)
		}
		seen[a] = k
	}
	if !w.manager.Ready() {
		return
	}
	held := make(map[datastore.IPAMKey]netip.Addr)
	for _, p := range append(w.ds.AllocatedIPs(), w.ds.Orphans()...) {
		held[p.IPAMKey] = p.IP
	}
	for k, a := range w.pods {
		if held[k] != a {
			w.t.Fatalf("%s: %s was told %s, the store says %s", w.now, k, a, held[k])
		}
	}
	if s := w.ds.GetIPStats(); s.AvailableAddresses() < 0 || s.AvailableAddresses()+s.AssignedIPs+s.CooldownIPs+s.QuarantinedIPs != s.TotalIPs {
		w.t.Fatalf("%s: account %+v", w.now, s)
	}
}

func podKey(n int) datastore.IPAMKey {
	return datastore.IPAMKey{NetworkName: "aws-cni", ContainerID: fmt.Sprintf("c%04d", n), IfName: "eth0"}
}

// add starts a pod; false when it must wait.
func (w *world) add() bool {
	w.t.Helper()
	k := podKey(w.next)
	a, _, err := w.ds.AssignPodIPv4Address(k)
	if err != nil {
		return false
	}
	w.next++
	w.pods[k] = a
	w.check()
	return true
}

// addAll starts pods, letting time pass for those that must wait.
func (w *world) addAll(n int) {
	w.t.Helper()
	for range n {
		for tries := 0; !w.add(); tries++ {
			if tries > 100 {
				w.t.Fatalf("%s: a pod waits for ever, %+v; %v", w.now, w.ds.GetIPStats(), w.notes)
			}
			w.run(5 * time.Second)
		}
	}
}

// remove ends the pod with the n-th key in order.
func (w *world) remove(n int) {
	w.t.Helper()
	keys := make([]datastore.IPAMKey, 0, len(w.pods))
	for k := range w.pods {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b datastore.IPAMKey) int { return strings.Compare(a.ContainerID, b.ContainerID) })
	k := keys[n]
	if _, _, err := w.ds.UnassignPodIPv4Address(k); err != nil && !errors.Is(err, datastore.ErrUnknownPod) {
		w.t.Fatal(err)
	}
	delete(w.pods, k)
}

// changes is how many requests changed something in EC2.
func (w *world) changes() int {
	n := 0
	for _, name := range [...]string{"create", "assign", "unassign", "delete"} {
		n += w.ec2.Requests(name)
	}
	return n
}

// agree fails unless the store is exactly what EC2 has.
func (w *world) agree() {
	w.t.Helper()
	enis, err := w.ec2.Describe(w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	managed := datastore.FilterUnmanagedENIs(attached(enis))
	for _, e := range managed {
		if have := w.ds.Units(e.ID); !slices.Equal(have, e.Units) {
			w.t.Fatalf("%s: %s has %v, EC2 %v; %v", w.now, e.ID, have, e.Units, w.notes)
		}
	}
	if w.ds.GetENIs() != len(managed) {
		w.t.Fatalf("%s: %v, EC2 has %d; %v", w.now, w.ds.ENIIDs(), len(managed), w.notes)
	}
}

func (w *world) stats() string {
	s := w.ds.GetIPStats()
	return fmt.Sprintf("enis=%d total=%d assigned=%d cooling=%d", w.ds.GetENIs(), s.TotalIPs, s.AssignedIPs, s.CooldownIPs)
}

func (w *world) want(stats string) {
	w.t.Helper()
	if have := w.stats(); have != stats {
		w.t.Fatalf("%s: have %s, want %s; %q", w.now.Sub(epoch), have, stats, w.notes[max(len(w.notes)-8, 0):])
	}
}

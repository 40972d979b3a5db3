package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// storyAddresses is an operator's term, a cloud that has addresses for nodes, and an API server.
type storyAddresses struct {
	now      time.Time
	term     *AddressTerm
	objects  map[string]Object
	cloud    map[string]AllocationMap
	next     int
	revision int64
	waiting  []Effect
	out      strings.Builder
}

// Goal: an operator of single addresses asks the cloud for what its nodes lack, again after what was not answered or
// throttled, and takes back what is excess, in one request. Method: golden stories; each command prints the effects of
// one event:
//
//	term [delay=N] | lead [for=N] | list | after N
//	node NAME [pre=N] [used=N] [ready]    its resource is new or changes: so many of its pool are used; ready answers marks
//	gone NAME                             its resource is gone
//	answer [refused|unknown|throttled]    answers the oldest request, performed where nothing is said
func TestAddressTermStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories/addressterm", func(t *testing.T, path string) {
		var s *storyAddresses
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "term" {
				var delay int
				d.MaybeScanArgs(t, "delay", &delay)
				term, err := NewAddressTerm(OperatorConfig{ReleaseExcessIPs: true, ReleaseDelay: time.Duration(delay) * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				s = &storyAddresses{now: epoch, term: term, objects: map[string]Object{}, cloud: map[string]AllocationMap{}}
				return ""
			}
			s.out.Reset()
			s.play(t, d)
			if why := s.term.Pending(); why != "" {
				fmt.Fprintf(&s.out, "(%s)\n", why)
			}
			return s.out.String()
		})
	})
}

func (s *storyAddresses) play(t *testing.T, d *datadriven.TestData) {
	var name string
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "lead":
		ev := Leading{}
		var n int
		if d.MaybeScanArgs(t, "for", &n); n > 0 {
			ev.Until = s.now.Add(time.Duration(n) * time.Second)
		}
		s.step(ev)
	case "list":
		var list []Object
		for _, name := range sortedKeys(s.objects) {
			list = append(list, s.objects[name])
		}
		s.step(Listed{list})
	case "node":
		s.step(Seen{s.change(t, d, name)})
	case "gone":
		x := s.objects[name]
		delete(s.objects, name)
		s.step(Gone{x})
	case "after":
		n, _ := strconv.Atoi(name)
		s.now = s.now.Add(time.Duration(n) * time.Second)
		s.step(Woke{})
	case "answer":
		if len(s.waiting) == 0 {
			s.out.WriteString("nothing is under way\n")
			return
		}
		e := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.step(s.answer(e, name))
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
}

// change makes a node's resource, or says what its agent does.
func (s *storyAddresses) change(t *testing.T, d *datadriven.TestData, name string) Object {
	s.revision++
	x := s.objects[name]
	if !x.exists() {
		x = Object{CiliumNode: &CiliumNode{Metadata: ObjectMeta{Name: name, UID: "u"}}}
	}
	x.CiliumNode, x.Revision = x.Clone(), s.revision
	x.Metadata.ResourceVersion = fmt.Sprint(s.revision)
	var used int
	d.MaybeScanArgs(t, "pre", &x.Spec.IPAM.PreAllocate)
	if d.HasArg("used") {
		d.ScanArgs(t, "used", &used)
		x.Status.IPAM.Used = AllocationMap{}
		for _, ip := range sortedAddrs(x.Spec.IPAM.Pool)[:used] {
			x.Status.IPAM.Used[ip] = AllocationIP{Owner: "pod"}
		}
	}
	if d.HasArg("ready") {
		for _, ip := range sortedAddrs(x.Status.IPAM.ReleaseIPs) {
			switch _, there := x.Spec.IPAM.Pool[ip]; {
			case x.Status.IPAM.ReleaseIPs[ip] == MarkedForRelease:
				x.Status.IPAM.ReleaseIPs[ip] = ReadyForRelease
			case !there:
				delete(x.Status.IPAM.ReleaseIPs, ip)
			}
		}
	}
	s.objects[name] = x
	return x
}

func (s *storyAddresses) step(ev Event) {
	for _, e := range s.term.Step(s.now, ev) {
		switch e := e.(type) {
		case WakeAt:
			fmt.Fprintf(&s.out, "wake +%s\n", e.At.Sub(s.now))
			continue
		case ListAddresses, AssignAddresses, UnassignAddresses, WriteResource:
			s.waiting = append(s.waiting, e)
		}
		fmt.Fprintf(&s.out, "%s\n", e.AppendText(nil))
	}
}

// answer performs a request, or fails it.
func (s *storyAddresses) answer(e Effect, as string) Event {
	r := CloudAnswered{Unknown: as == "unknown", Throttled: as == "throttled"}
	if as != "" {
		r.Err = errors.New(as)
	}
	switch e := e.(type) {
	case WriteResource:
		if o, known := storyOutcome(as); known {
			return Wrote{ID: e.ID, Outcome: o}
		}
		s.revision++
		x := e.Object
		x.CiliumNode, x.Revision = x.Clone(), s.revision
		x.Metadata.ResourceVersion = fmt.Sprint(s.revision)
		s.objects[x.Metadata.Name] = x
		done, _ := storyOutcome("done")
		return Wrote{ID: e.ID, Outcome: done, Object: x}
	case ListAddresses:
		r.ID, r.Addresses = e.ID, s.cloud[e.Node]
	case AssignAddresses:
		r.ID, r.Addresses = e.ID, AllocationMap{}
		if s.cloud[e.Node] == nil {
			s.cloud[e.Node] = AllocationMap{}
		}
		for range e.Count {
			if as == "" {
				s.next++
				ip := netip.AddrFrom4([4]byte{10, 0, 0, byte(s.next)})
				r.Addresses[ip], s.cloud[e.Node][ip] = AllocationIP{Resource: "eni-0"}, AllocationIP{Resource: "eni-0"}
			}
		}
	case UnassignAddresses:
		r.ID = e.ID
		for _, ip := range e.IPs {
			if as == "" {
				delete(s.cloud[e.Node], ip)
			}
		}
	}
	return r
}

package cilium

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/ipam"
)

// storyTerm is an operator's term with a store and an API server that answer when the story says so.
type storyTerm struct {
	now     time.Time
	term    *PoolTerm
	entries []Entry
	start   *Entry
	// revision is the store's and the server's.
	revision int64
	objects  map[string]Object
	waiting  []Effect
	out      strings.Builder
}

// Goal: what an operator's term does reads as it is meant: in which order it reads, appends and writes, what it keeps
// of a request without an answer, and when it ends. Method: golden stories; each command prints the effects of one
// event, and `answer` answers the request under way. Commands:
//
//	term [ranges=CIDR] [block=N] [reuse-delay=N] [slack=N]   a term whose pool has these ranges
//	entry VERSION CLAIM | start VERSION                      what the store has
//	node NAME [uid=U] [needs=N] [has=CIDR,…] [bad] [former]  what the server has; told, once the term follows
//	gone NAME                                                and has no more
//	lead [for=N]                                             the term leads, for so many seconds
//	answer [OUTCOME] [n=N]                                   the request is answered, performed where it is done
//	list | after N | pools                                   the resources are listed; N seconds pass; ranges have changed
func TestTermStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories/term", func(t *testing.T, path string) {
		var s *storyTerm
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "term" {
				s = newStoryTerm(t, d)
			}
			s.out.Reset()
			s.play(t, d)
			return s.out.String()
		})
	})
}

func newStoryTerm(t *testing.T, d *datadriven.TestData) *storyTerm {
	ranges, block, delay, slack := "10.0.0.0/26", 28, 0, 0
	d.MaybeScanArgs(t, "ranges", &ranges)
	d.MaybeScanArgs(t, "block", &block)
	d.MaybeScanArgs(t, "reuse-delay", &delay)
	d.MaybeScanArgs(t, "slack", &slack)
	pools, err := NewPoolOperator(PoolOperatorConfig{ReuseDelay: time.Duration(delay) * time.Second})
	if err == nil {
		err = pools.UpsertPool(DefaultPool, PoolSpec{IPv4: []netip.Prefix{netip.MustParsePrefix(ranges)}, MaskSize4: block})
	}
	if err != nil {
		t.Fatal(err)
	}
	return &storyTerm{now: epoch, term: NewPoolTerm(PoolTermConfig{Pools: pools, LedgerSlack: slack}), objects: map[string]Object{}}
}

func (s *storyTerm) play(t *testing.T, d *datadriven.TestData) {
	arg := func(i int) string {
		if i < len(d.CmdArgs) {
			return d.CmdArgs[i].Key
		}
		return ""
	}
	switch d.Cmd {
	case "term":
	case "start":
		s.revision++
		s.start = &Entry{Value: arg(0), Revision: s.revision}
	case "entry":
		s.revision++
		version, _ := strconv.ParseUint(arg(0), 10, 64)
		s.entries = append(s.entries, Entry{Key: EntryKey(version), Value: d.Input, Revision: s.revision})
	case "node":
		x := s.node(t, d)
		if arg(len(d.CmdArgs)-1) != "untold" {
			s.step(Seen{x})
		}
	case "gone":
		x := s.objects[arg(0)]
		delete(s.objects, arg(0))
		s.step(Gone{x})
	case "lead":
		var n int
		if d.MaybeScanArgs(t, "for", &n); n == 0 {
			s.step(Leading{})
			return
		}
		s.step(Leading{Until: s.now.Add(time.Duration(n) * time.Second)})
	case "list":
		s.step(Listed{s.all()})
	case "after":
		n, _ := strconv.Atoi(arg(0))
		s.now = s.now.Add(time.Duration(n) * time.Second)
		s.step(Woke{})
	case "pools":
		if err := s.term.Upsert(DefaultPool, PoolSpec{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/26"), netip.MustParsePrefix(arg(0))}, MaskSize4: 28}); err != nil {
			t.Fatal(err)
		}
		s.step(PoolsChanged{})
	case "answer":
		n := 1
		d.MaybeScanArgs(t, "n", &n)
		for range n {
			if len(s.waiting) == 0 {
				s.out.WriteString("nothing is under way\n")
				return
			}
			s.answer(arg(0))
		}
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
}

func (s *storyTerm) all() (list []Object) {
	for _, name := range sortedKeys(s.objects) {
		list = append(list, s.objects[name])
	}
	return list
}

func (s *storyTerm) node(t *testing.T, d *datadriven.TestData) Object {
	s.revision++
	n := &CiliumNode{Metadata: ObjectMeta{Name: d.CmdArgs[0].Key, UID: "u"}}
	x := Object{CiliumNode: n, Revision: s.revision, Owner: "node-" + n.Metadata.Name}
	n.Metadata.ResourceVersion = fmt.Sprint(s.revision)
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "uid":
			n.Metadata.UID = a.Vals[0]
		case "needs":
			k, _ := strconv.Atoi(a.Vals[0])
			n.Spec.IPAM.Pools.Requested = []PoolRequest{{Pool: DefaultPool, Needed: PoolDemand{IPv4Addrs: k}}}
		case "has":
			p := PoolAllocation{Pool: DefaultPool}
			for _, text := range a.Vals {
				p.CIDRs = append(p.CIDRs, netip.MustParsePrefix(text))
			}
			n.Spec.IPAM.Pools.Allocated = []PoolAllocation{p}
		case "bad":
			x.Bad = fmt.Errorf("it makes no sense")
		case "untold":
		default:
			d.Fatalf(t, "unknown %s", a.Key)
		}
	}
	s.objects[n.Metadata.Name] = x
	return x
}

func (s *storyTerm) step(ev Event) {
	for _, e := range s.term.Step(s.now, ev) {
		if w, ok := e.(WakeAt); ok && !w.At.IsZero() {
			fmt.Fprintf(&s.out, "wake +%s\n", w.At.Sub(s.now))
			continue
		}
		switch e.(type) {
		case Follow, RecordEvent, Note, WakeAt, End:
		default:
			s.waiting = append(s.waiting, e)
		}
		fmt.Fprintf(&s.out, "%s\n", e.AppendText(nil))
	}
}

// answer answers the oldest request: as it would be, or with what the story says, which is not performed then.
func (s *storyTerm) answer(as string) {
	e := s.waiting[0]
	s.waiting = s.waiting[1:]
	if o, known := storyOutcome(as); known {
		if w, ok := e.(WriteResource); ok {
			s.step(Wrote{ID: w.ID, Outcome: o})
			return
		}
		s.step(Stored{ID: requestID(e), Outcome: o})
		return
	}
	r := Stored{ID: requestID(e), Outcome: ipam.Done}
	switch e := e.(type) {
	case ReadStart:
		if s.start != nil {
			r.Entries = []Entry{*s.start}
		}
	case SetStart:
		s.revision++
		s.start = &Entry{Value: fmt.Sprint(e.Version), Revision: s.revision}
		r.Revision = s.revision
	case ReadLedger:
		r.Entries = slices.Clone(s.entries)
	case AppendEntry:
		s.revision++
		s.entries = append(s.entries, Entry{Key: EntryKey(e.Claim.Version), Value: e.Claim.String(), Revision: s.revision})
		r.Revision = s.revision
	case StrikeEntry:
		s.entries = slices.DeleteFunc(s.entries, func(x Entry) bool { return x.Key == e.Entry.Key })
	case WriteResource:
		s.revision++
		x := e.Object
		x.CiliumNode, x.Revision = x.Clone(), s.revision
		x.Metadata.ResourceVersion = fmt.Sprint(s.revision)
		s.objects[x.Metadata.Name] = x
		s.step(Wrote{ID: e.ID, Outcome: ipam.Done, Object: x})
		return
	}
	s.step(r)
}

// storyOutcome is an outcome by its name.
func storyOutcome(name string) (ipam.Outcome, bool) {
	for o := ipam.Unknown; o <= ipam.Refused; o++ {
		if strings.ReplaceAll(o.String(), " ", "-") == name {
			return o, true
		}
	}
	return ipam.Unknown, false
}

func requestID(e Effect) uint64 {
	switch e := e.(type) {
	case ReadStart:
		return e.ID
	case SetStart:
		return e.ID
	case ReadLedger:
		return e.ID
	case AppendEntry:
		return e.ID
	case StrikeEntry:
		return e.ID
	}
	return 0
}

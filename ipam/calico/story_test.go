package calico

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: what a host and the cluster's controllers write, say and wait for, step by step, in words that a reader can
// check against Calico's behaviour. Method: golden stories; `go test -rewrite` writes them anew. A story's commands:
//
//	host|tender [range=CIDR] [block=N] [six=CIDR] [max=N] [strict] [grace=D]   start a machine; six: of two families, with blocks of /126
//	nodes HOST…, node HOST, node-gone HOST     incarnations of nodes
//	blocks, block, gone                        input lines are blocks: CIDR UID VERSION AFFINITY [HOST…], a host an address, - for a free one
//	agent [busy] [ADDR…]                       what the host's agent holds now
//	take|drop POD, refused POD                 the agent gives a pod an address, takes it back, has none
//	pod ID POD [addr=A|(A,A)] [pools=(P,…)] [pools6=(P,…)] [in=LABEL] [refused]   the plugin of a pod asks, in a namespace that may have a label
//	pools CIDR…                                the pools are others
//	pool-of CIDR LABEL                         a pool is of nodes that have a label
//	pool-in CIDR LABEL                         a pool is of namespaces that have a label
//	labels LABEL…                              of the host's Node object
//	wrote done|conflict|unknown                the answer to the last write
//	settle                                     each write is done at once, until there is none
//	wait DURATION                              time passes; the machine is woken as it asked
//	state                                      what is under way

type machine interface {
	Step(now time.Time, ev Event) []Effect
	Pending() string
}

type story struct {
	t       *testing.T
	m       machine
	now     time.Time
	alloc   Node
	pools   Pools
	wake    time.Time
	write   *WriteBlock
	written int64
	lines   []string
}

var storyEpoch = time.Unix(1700000000, 0).UTC()

func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := &story{now: storyEpoch, written: 100}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			s.command(d)
			out := strings.Join(s.lines, "\n")
			s.lines = nil
			return out
		})
	})
}

func (s *story) command(d *datadriven.TestData) {
	words := make([]string, 0, len(d.CmdArgs))
	for _, a := range d.CmdArgs {
		words = append(words, a.Key)
	}
	switch d.Cmd {
	case "host", "tender":
		s.start(d)
	case "nodes":
		s.step(NodesListed{Hosts: words})
	case "node":
		s.step(NodeSeen{Host: words[0]})
	case "node-gone":
		s.step(NodeGone{Host: words[0]})
	case "blocks":
		s.step(BlocksListed{Blocks: s.stored(d.Input)})
	case "block":
		s.step(BlockSeen{Block: s.stored(d.Input)[0]})
	case "gone":
		s.step(BlockGone{Block: s.stored(d.Input)[0]})
	case "agent":
		s.agent(words)
	case "take":
		if err := s.take(words[0]); err != nil {
			s.lines = append(s.lines, err.Error())
			return
		}
		s.seen(true)
	case "drop":
		for k := range s.alloc.families {
			s.alloc.Release(s.now, owner(pod(words[0]), k))
		}
		s.seen(true)
	case "refused":
		s.step(PodRefused{Owner: pod(words[0])})
	case "pod":
		id, err := strconv.ParseUint(words[0], 10, 64)
		s.must(err)
		s.step(PodComing{ID: id, Owner: pod(words[1]), Want: s.want(d)})
	case "pools":
		s.pools.Ranges = nil
		for _, w := range words {
			s.pools.Ranges = append(s.pools.Ranges, netip.MustParsePrefix(w))
		}
		s.step(PoolsChanged{Pools: s.pools})
	case "labels":
		labels := map[string]string{}
		for _, w := range words {
			labels[w] = ""
		}
		s.step(Labelled{Labels: labels})
	case "pool-of":
		sel, err := ParseSelector("has(" + words[1] + ")")
		s.must(err)
		s.pools.Selectors = map[netip.Prefix]Selector{netip.MustParsePrefix(words[0]): sel}
		s.step(PoolsChanged{Pools: s.pools})
	case "pool-in":
		sel, err := ParseSelector("has(" + words[1] + ")")
		s.must(err)
		s.pools.Namespaces = map[netip.Prefix]Selector{netip.MustParsePrefix(words[0]): sel}
		s.step(PoolsChanged{Pools: s.pools})
	case "wrote":
		s.wrote(words[0])
	case "settle":
		s.wait(s.now)
		for s.write != nil {
			s.wrote("done")
			s.wait(s.now)
		}
	case "wait":
		pause, err := time.ParseDuration(words[0])
		s.must(err)
		s.wait(s.now.Add(pause))
	case "state":
		s.lines = append(s.lines, "pending: "+s.m.Pending())
		if h, ok := s.m.(*Host); ok {
			s.lines = append(s.lines, fmt.Sprintf("%s; owes a pod: %v", h, h.Owes(s.now)))
		}
	default:
		d.Fatalf(s.t, "unknown command %s", d.Cmd)
	}
}

// take has the agent give a pod an address of each family, or none and say why.
func (s *story) take(name string) error {
	var got []string
	for k, pool := range s.alloc.families {
		if len(s.alloc.families) == 1 {
			pool = ""
		}
		l, _, err := s.alloc.Allocate(s.now, owner(pod(name), k), ipam.Want{Pool: pool})
		if err != nil {
			for k := range s.alloc.families {
				s.alloc.Release(s.now, owner(pod(name), k))
			}
			if !errors.Is(err, ipam.ErrExhausted) && !errors.Is(err, ipam.ErrUnmet) && !errors.Is(err, ipam.ErrNoBlock) {
				s.t.Fatal(err)
			}
			return err
		}
		got = append(got, l.Addr.String())
	}
	if len(s.alloc.apart)+len(s.alloc.asking) > 0 || len(got) > 1 {
		s.lines = append(s.lines, fmt.Sprintf("%s has %s", name, strings.Join(got, " and ")))
	}
	return nil
}

// want is what a pod asks for.
func (s *story) want(d *datadriven.TestData) (w Want) {
	for _, a := range d.CmdArgs[2:] {
		switch a.Key {
		case "addr":
			for _, text := range a.Vals {
				addr := netip.MustParseAddr(text)
				w.Addrs[placeOf(ipam.PoolOf(addr))] = addr
			}
		case "pools":
			w.Pools[0] = a.Vals
		case "pools6":
			w.Pools[1] = a.Vals
		case "in":
			w.Labels = map[string]string{a.Vals[0]: ""}
		case "refused":
			w.Refused = "what cannot be read: annotation x: cannot be read"
		default:
			d.Fatalf(s.t, "unknown wish %s", a.Key)
		}
	}
	return w
}

func (s *story) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) start(d *datadriven.TestData) {
	s.pools = Pools{Ranges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/28")}, BlockBits: 30, MaxBlocks: 20}
	grace, families := time.Minute, []string{ipam.PoolIPv4}
	for _, a := range d.CmdArgs {
		var err error
		switch a.Key {
		case "range":
			s.pools.Ranges[0], err = netip.ParsePrefix(a.Vals[0])
		case "six":
			families = append(families, ipam.PoolIPv6)
			s.pools.Ranges, s.pools.BlockBits6 = append(s.pools.Ranges, netip.MustParsePrefix(a.Vals[0])), 126
		case "block":
			s.pools.BlockBits, err = strconv.Atoi(a.Vals[0])
		case "max":
			s.pools.MaxBlocks, err = strconv.Atoi(a.Vals[0])
		case "strict":
			s.pools.Strict = true
		case "grace":
			grace, err = time.ParseDuration(a.Vals[0])
		default:
			d.Fatalf(s.t, "unknown setting %s", a.Key)
		}
		s.must(err)
	}
	s.alloc, s.write, s.wake = NewNode(families...), nil, time.Time{}
	if d.Cmd == "tender" {
		s.m = NewTender(s.pools, grace)
		return
	}
	s.m = NewHost(s.pools, s.alloc)
	s.seen(true)
}

// agent has the agent hold these addresses.
func (s *story) agent(words []string) {
	idle := true
	var blocks []netip.Prefix
	for _, w := range words {
		if w == "busy" {
			idle = false
			continue
		}
		a := netip.MustParseAddr(w)
		blocks = append(blocks, netip.PrefixFrom(a, a.BitLen()))
	}
	_, err := s.alloc.SetBlocks(s.now, blocks)
	s.must(err)
	s.seen(idle)
}

func (s *story) seen(idle bool) { s.step(AgentSeen{Blocks: s.alloc.Blocks(), Idle: idle}) }

func pod(name string) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: name, IfName: "eth0"}
}

func (s *story) stored(input string) (list []Stored) {
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		plain := func(w string) string { return strings.Trim(w, "-") }
		b := NewBlock(netip.MustParsePrefix(words[0]), plain(words[3]))
		for i, host := range words[4:] {
			b.Hosts[i] = plain(host)
		}
		b.Free = nil
		for i, host := range b.Hosts {
			if host == "" {
				b.Free = append(b.Free, i)
			}
		}
		version, err := strconv.ParseInt(words[2], 10, 64)
		s.must(err)
		s.written = max(s.written, version)
		list = append(list, Stored{Block: b, UID: words[1], Version: version})
	}
	return list
}

// wrote answers the last write.
func (s *story) wrote(outcome string) {
	w := s.write
	if w == nil {
		s.t.Fatal("nothing was written")
	}
	s.write = nil
	for o := ipam.Unknown; o <= ipam.Refused; o++ {
		if o.String() != outcome {
			continue
		}
		ev := Wrote{Outcome: o}
		if o == ipam.Done && w.Op != Delete {
			s.written++
			ev.Block = w.Block
			ev.Block.Version = s.written
			if w.Op == Create {
				ev.Block.UID = fmt.Sprintf("u%d", s.written)
			}
		}
		s.step(ev)
		return
	}
	s.t.Fatalf("unknown outcome %s", outcome)
}

func (s *story) wait(end time.Time) {
	for !s.wake.IsZero() && !s.wake.After(end) {
		if s.wake.After(s.now) {
			s.now = s.wake
		}
		s.wake = time.Time{}
		s.step(Woke{})
	}
	s.now = end
}

func (s *story) step(ev Event) {
	for _, e := range s.m.Step(s.now, ev) {
		switch e := e.(type) {
		case WakeAt:
			s.wake = e.At
			continue // seen by what follows when time passes
		case WriteBlock:
			if s.write != nil {
				s.t.Fatalf("%s is written while another write is under way", e.Block.CIDR)
			}
			s.write = &e
		}
		s.lines = append(s.lines, fmt.Sprintf("%-7s %s", s.now.Sub(storyEpoch), e.AppendText(nil)))
	}
}

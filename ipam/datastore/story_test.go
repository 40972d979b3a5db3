package datastore

import (
	"errors"
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

// Goal: what ipamd asks of EC2 and tells its agent, call by call, in words that a reader can check against
// amazon-vpc-cni-k8s. Method: golden stories in which the reader is EC2; `go test -rewrite` writes them anew. A story's
// commands:
//
//	ipamd TARGET=N… [units=N] [enis=N] [prefixes] [cooling=D]   start one whose ENIs hold so many units
//	answer [refused=CODE|lost] [UNIT…]         the answer to the oldest call; input lines are ENIs: ID DEVICE [UNIT…]
//	again TIMES [refused=CODE]                 the same answer to each of the next calls, which come as time passes
//	agent [busy] [CIDR…]                       what the agent holds now
//	pods N                                     so many pods hold an address
//	wait DURATION                              time passes; ipamd is woken as it asked
//	state                                      what it has, and what is under way

type ipamdStory struct {
	t     *testing.T
	d     *IPAMD
	node  *Node
	now   time.Time
	wake  time.Time
	calls []Call
	busy  bool
	lines []string
}

var storyEpoch = time.Unix(1700000000, 0).UTC()

func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := &ipamdStory{now: storyEpoch}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			s.command(d)
			out := strings.Join(s.lines, "\n")
			s.lines = nil
			return out
		})
	})
}

func (s *ipamdStory) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *ipamdStory) command(d *datadriven.TestData) {
	switch d.Cmd {
	case "ipamd":
		s.start(d)
	case "answer":
		s.answer(d)
	case "again":
		times, err := strconv.Atoi(d.CmdArgs[0].Key)
		s.must(err)
		d.CmdArgs = d.CmdArgs[1:]
		for range times {
			for len(s.calls) == 0 && !s.wake.IsZero() {
				s.wait(s.wake)
			}
			s.answer(d)
		}
	case "agent":
		s.busy = false
		var blocks []netip.Prefix
		for _, a := range d.CmdArgs {
			if s.busy = s.busy || a.Key == "busy"; a.Key != "busy" {
				blocks = append(blocks, netip.MustParsePrefix(a.Key))
			}
		}
		_, err := s.node.SetBlocks(s.now, blocks)
		s.must(err)
		s.seen()
	case "pods":
		n, err := strconv.Atoi(d.CmdArgs[0].Key)
		s.must(err)
		s.pods(n)
	case "wait":
		pause, err := time.ParseDuration(d.CmdArgs[0].Key)
		s.must(err)
		s.wait(s.now.Add(pause))
	case "state":
		s.lines = append(s.lines, s.d.String())
	default:
		d.Fatalf(s.t, "unknown command %s", d.Cmd)
	}
}

func (s *ipamdStory) start(d *datadriven.TestData) {
	z, cooling := Sizing{UnitsPerENI: 2, ENIsMax: 2}, 30*time.Second
	for _, a := range d.CmdArgs {
		value := ""
		if len(a.Vals) > 0 {
			value = a.Vals[0]
		}
		n, _ := strconv.Atoi(value)
		switch a.Key {
		case "warm-ip":
			z.WarmIP = n
		case "minimum-ip":
			z.MinimumIP = n
		case "warm-prefix":
			z.WarmPrefix = n
		case "warm-eni":
			z.WarmENI = n
		case "units":
			z.UnitsPerENI = n
		case "enis":
			z.ENIsMax = n
		case "prefixes":
			z.PrefixDelegation = true
		case "cooling":
			var err error
			cooling, err = time.ParseDuration(value)
			s.must(err)
		default:
			d.Fatalf(s.t, "unknown setting %s", a.Key)
		}
	}
	var err error
	s.node, err = NewNode(NodeConfig{Cooling: cooling, Gateway: netip.MustParseAddr("169.254.1.1")})
	s.must(err)
	pool := NewNodePool(s.node, func() time.Time { return s.now })
	s.d, s.calls, s.wake = NewIPAMD(pool, NewNodeManager(pool, z)), nil, time.Time{}
	s.step(Woke{})
}

// answer answers the oldest call.
func (s *ipamdStory) answer(d *datadriven.TestData) {
	if len(s.calls) == 0 {
		d.Fatalf(s.t, "nothing was asked")
	}
	r := Result{Number: s.calls[0].Number}
	s.calls = s.calls[1:]
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "lost":
			r.Err = errors.New("no answer")
		case "refused":
			r.Err = codedError(a.Vals[0])
		default:
			r.Prefixes = append(r.Prefixes, netip.MustParsePrefix(a.Key))
		}
	}
	for line := range strings.Lines(d.Input) {
		words := strings.Fields(line)
		device, err := strconv.Atoi(words[1])
		s.must(err)
		e := AttachedENI{ID: words[0], Device: device, Primary: device == 0}
		for _, w := range words[2:] {
			e.Units = append(e.Units, netip.MustParsePrefix(w))
		}
		r.ENIs = append(r.ENIs, e)
	}
	s.step(Called{Result: r})
}

// codedError is a refusal of EC2.
type codedError string

func (c codedError) Error() string     { return string(c) }
func (c codedError) ErrorCode() string { return string(c) }

func (s *ipamdStory) pods(n int) {
	owner := func(i int) ipam.Owner {
		return ipam.Owner{Network: "k8s", ContainerID: strconv.Itoa(i), IfName: "eth0"}
	}
	for l := range s.node.Leases() {
		if i, _ := strconv.Atoi(l.Owner.ContainerID); i >= n {
			s.node.Release(s.now, l.Owner)
		}
	}
	for i := range n {
		if _, _, err := s.node.Allocate(s.now, owner(i), ipam.Want{}); err != nil {
			s.lines = append(s.lines, fmt.Sprintf("pod %d: %v", i, err))
			break
		}
	}
	s.seen()
}

func (s *ipamdStory) seen() {
	if s.d.AwaitsAgent() {
		s.step(AgentSeen{Blocks: s.node.Blocks(), Idle: !s.busy})
	}
}

func (s *ipamdStory) wait(end time.Time) {
	for !s.wake.IsZero() && !s.wake.After(end) {
		if s.wake.After(s.now) {
			s.now = s.wake
		}
		s.wake = time.Time{}
		s.step(Woke{})
	}
	s.now = end
}

func (s *ipamdStory) step(ev Event) {
	say := func(format string, args ...any) {
		s.lines = append(s.lines, fmt.Sprintf("%-6s ", s.now.Sub(storyEpoch))+fmt.Sprintf(format, args...))
	}
	asked := false
	for _, e := range slices.Clone(s.d.Step(s.now, ev)) {
		switch e := e.(type) {
		case Perform:
			s.calls = append(s.calls, e.Call)
			say("call %s", e.Call)
		case WakeAt:
			s.wake = e.At
		case TellAgent:
			say("tell %v", e.Blocks)
		case AskAgent:
			asked = true
			say("ask the agent")
		case Note:
			say("note %s", e.Text)
		case WantTrunk:
			say("want a trunk")
		}
	}
	if asked {
		s.seen()
	}
}

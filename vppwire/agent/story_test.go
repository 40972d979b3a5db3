package agent

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/ipam"
)

// TestStories plays the files of testdata/stories. Goal: what an agent asks for, in which order, and what it answers stay as
// they were reviewed. Method: each block's lines act one after the other; the output is every effect in its order, with runs
// of dataplane calls drawn together. After each block, what is under way is performed ("settle" does so midway).
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		l := newLab(t)
		l.callsFirst = true
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			l.t = t
			l.out.Reset()
			for _, b := range l.boxes {
				b.calls = false
			}
			quiet := d.Cmd == "quiet"
			for _, text := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				if err := l.act(strings.Fields(text)); err != nil {
					t.Fatalf("%s: %q: %v", d.Pos, text, err)
				}
			}
			l.settle()
			if quiet {
				return ""
			}
			return l.out.String()
		})
	})
}

// act performs one line of a story.
func (l *lab) act(w []string) error {
	if len(w) == 0 || strings.HasPrefix(w[0], "#") {
		return nil
	}
	verb, args := w[0], w[1:]
	switch verb {
	case "settle":
		l.settle()
		return nil
	case "pass":
		d, err := time.ParseDuration(args[0])
		l.pass(d)
		return err
	case "pools":
		length, err := strconv.Atoi(args[2])
		generation, _ := strconv.ParseInt(args[0], 10, 64)
		l.pools = testPools(generation, args[1], length)
		for _, name := range l.names {
			l.boxes[name].step(PoolsChanged{Pools: l.pools})
		}
		return err
	case "external":
		l.pools.External = true
		return nil
	case "store":
		return l.actStore(args)
	case "box":
		l.box(args[0])
		return nil
	}
	b := l.boxes[args[0]]
	if b == nil {
		return fmt.Errorf("no box %q", args[0])
	}
	return l.actOn(verb, b, args[1:])
}

func (l *lab) actStore(args []string) error {
	s := l.store
	switch args[0] {
	case "off":
		s.off = true
	case "on":
		s.off = false
	case "lose-reply":
		s.loseReply = true
	case "lose-request":
		s.loseRequest = true
	case "wipe":
		s.wipe()
	case "show":
		l.settle()
		l.out.WriteString(s.text())
	case "put":
		s.put(args[1], strings.Join(args[2:], " "))
	case "delete":
		s.remove(args[1])
	default:
		return fmt.Errorf("unknown word")
	}
	return nil
}

func (l *lab) actOn(verb string, b *box, args []string) error {
	switch verb {
	case "start":
		b.start()
	case "api":
		b.api(args...)
	case "up":
		b.start()
		b.api(args...)
	case "kill":
		b.kill()
	case "vpp-kill":
		b.killVPP()
	case "vpp-start":
		b.startVPP()
	case "reboot":
		b.kill()
		b.vpp.Kill()
		b.host.Reboot()
		b.boot++
		b.startVPP()
	case "disk":
		b.diskBad = args[0] == "bad"
	case "uid":
		b.uid = args[0]
	case "add":
		b.add(args[0], args[1])
	case "del":
		b.del(args[0])
	case "netns-gone":
		b.host.RemoveNamespace(netns(args[0]))
	case "withdraw":
		for id, name := range b.told {
			if name == strings.Join(args, " ") {
				delete(b.told, id)
				b.step(Withdrawn{Request: id})
			}
		}
	case "check":
		var addr netip.Addr
		if len(args) > 1 {
			addr = netip.MustParseAddr(args[1])
		}
		b.step(PodCheck{Request: b.request("check " + args[0]), Owner: owner(args[0]), Addr: addr})
	case "status":
		b.step(PodStatus{Request: b.request("status")})
	case "gc":
		e := PodGC{Request: b.request("gc"), Network: "k8s"}
		for _, c := range args {
			e.Valid = append(e.Valid, owner(c))
		}
		b.step(e)
	case "node-gone":
		for _, name := range l.names {
			l.boxes[name].step(NodeGone{Name: b.name, UID: b.uid})
		}
	case "node-seen":
		for _, name := range l.names {
			l.boxes[name].step(b.seen())
		}
	case "own-seen":
		b.step(b.seen())
	case "nodes-listed":
		b.step(NodesListed{})
	case "own-address":
		addr, _ := netip.ParsePrefix(args[0]) // "-" is none
		b.step(OwnAddress{Addr: addr})
	case "hide":
		b.hidden = true
	case "cidrs":
		b.cidrs = nil
		for _, c := range args {
			b.cidrs = append(b.cidrs, netip.MustParsePrefix(c))
		}
	case "patience":
		d, err := time.ParseDuration(args[0])
		b.cfg.ClaimPatience = d
		return err
	case "dhcp":
		b.cfg.IPAMConfig.NodeInterconnectDHCP = true
	case "add-at":
		b.addAt(args[0], args[1], netip.MustParseAddr(args[2]))
	case "watch-lost":
		b.step(StoreWatchLost{Watch: l.store.watches[b].id})
	case "show":
		l.settle()
		l.out.WriteString(b.state())
	case "wrote":
		l.settle()
		l.out.WriteString(b.wrote())
	case "journal":
		l.settle()
		for _, text := range b.journal {
			l.out.WriteString(text + "\n")
		}
	case "fill":
		return b.fill(args)
	default:
		return fmt.Errorf("unknown verb")
	}
	return nil
}

// fill adds pods p0, p1 and so on, as many as asked for.
func (b *box) fill(args []string) error {
	n, err := strconv.Atoi(args[0])
	for i := range n {
		name := "p" + strconv.Itoa(i)
		b.add(name, name)
	}
	b.l.settle()
	return err
}

var _ ipam.NodeAllocator

package story

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Play performs a block of a story, one line after the other, then everything that is under way, and returns what came
// out of it. An error names the line that could not be understood. The words are in the package's documentation.
func (l *Lab) Play(block string) (string, error) {
	l.Out.Reset()
	for _, b := range l.Machines { // in any order: each by itself
		b.calls = false
	}
	for _, text := range strings.Split(strings.TrimSpace(block), "\n") {
		if err := l.act(strings.Fields(text)); err != nil {
			return "", fmt.Errorf("%q: %w", text, err)
		}
	}
	l.Settle()
	return l.Out.String(), nil
}

// words are what a line can begin with, and how many words have to be behind it.
var words = map[string]int{
	"settle": 0, "pass": 1, "pools": 3, "external": 0, "store": 1, "box": 1,
	"start": 1, "api": 1, "up": 1, "kill": 1, "vpp-kill": 1, "vpp-start": 1, "reboot": 1, "disk": 2, "uid": 2, "add": 3, "del": 2,
	"netns-gone": 2, "journal-lost": 1, "route-gone": 2, "withdraw": 2, "check": 2, "status": 1, "gc": 1, "node-gone": 1, "node-seen": 1, "own-seen": 1, "nodes-listed": 1,
	"own-address": 2, "hide": 1, "cidrs": 1, "patience": 2, "dhcp": 1, "static": 1, "steal": 2, "links": 1, "return-nic": 1, "host": 1, "address-gone": 3, "vpp-nic": 2, "lease": 2, "lease-lost": 1, "nat-external": 1, "gateway": 3, "pod-if": 2, "pods-by": 2, "other-nic": 3, "plan": 2, "nic": 2, "scan": 2, "add-at": 4, "add-wants": 4, "add-memif": 4, "memifs-in": 2, "watch-lost": 1, "show": 1, "wrote": 1,
	"journal": 1, "fill": 2,
}

// act performs one line of a story.
func (l *Lab) act(w []string) error {
	if len(w) == 0 || strings.HasPrefix(w[0], "#") {
		return nil
	}
	verb, args := w[0], w[1:]
	if least, known := words[verb]; !known {
		return errors.New("unknown word")
	} else if len(args) < least {
		return fmt.Errorf("%d words are needed behind %s", least, verb)
	}
	switch verb {
	case "settle":
		l.Settle()
		return nil
	case "pass":
		d, err := time.ParseDuration(args[0])
		l.Pass(d)
		return err
	case "pools":
		length, err := strconv.Atoi(args[2])
		generation, _ := strconv.ParseInt(args[0], 10, 64)
		l.Pools = Pools(generation, args[1], length)
		for _, name := range l.Names {
			l.Machines[name].Step(agent.PoolsChanged{Pools: l.Pools})
		}
		return err
	case "external":
		l.Pools.External = true
		return nil
	case "store":
		return l.actStore(args)
	case "box":
		l.Machine(args[0])
		return nil
	}
	b := l.Machines[args[0]]
	if b == nil {
		return fmt.Errorf("no box %q", args[0])
	}
	return l.actOn(verb, b, args[1:])
}

func (l *Lab) actStore(args []string) error {
	s := l.Store
	if least := map[string]int{"put": 3, "delete": 2}[args[0]]; len(args) < least {
		return fmt.Errorf("%d words are needed behind store", least)
	}
	switch args[0] {
	case "off":
		s.Off = true
	case "on":
		s.Off = false
	case "lose-reply":
		s.LoseReply = true
	case "lose-request":
		s.LoseRequest = true
	case "wipe":
		s.wipe()
	case "show":
		l.Settle()
		l.Out.WriteString(s.Text())
	case "put":
		s.put(args[1], strings.Join(args[2:], " "))
	case "delete":
		s.remove(args[1])
	default:
		return errors.New("unknown word")
	}
	return nil
}

func (l *Lab) actOn(verb string, b *Machine, args []string) error {
	switch verb {
	case "start":
		b.Start()
	case "api":
		b.Tell(args...)
	case "up":
		b.Start()
		b.Tell(args...)
	case "kill":
		b.Kill()
	case "vpp-kill":
		b.KillVPP()
	case "vpp-start":
		b.StartVPP()
	case "reboot":
		b.Kill()
		b.VPP.Kill()
		b.Host.Reboot()
		b.Boot++
		b.StartVPP()
	case "disk":
		b.DiskBad = args[0] == "bad"
	case "journal-lost":
		b.Journal = nil
	case "uid":
		b.UID = args[0]
	case "add":
		b.Add(args[0], args[1])
	case "del":
		b.Del(args[0])
	case "netns-gone":
		b.Host.RemoveNamespace(Netns(args[0]))
	case "route-gone":
		ns := Netns(args[0])
		state, err := b.Host.Dump(ns)
		if err != nil {
			return err
		}
		for _, r := range state.Routes {
			if r.Dst.Bits() == 0 {
				return b.Host.Apply(vppwire.RouteDel{Route: vppwire.HostRoute{Netns: ns, Dst: r.Dst, Via: r.Via, Link: r.Link}})
			}
		}
		return fmt.Errorf("no default route in %s", ns)
	case "withdraw":
		for id, name := range b.Open {
			if name == strings.Join(args, " ") {
				delete(b.Open, id)
				b.Step(agent.Withdrawn{Request: id})
			}
		}
	case "check":
		var addr netip.Addr
		if len(args) > 1 {
			var err error
			if addr, err = netip.ParseAddr(args[1]); err != nil {
				return err
			}
		}
		b.Step(agent.PodCheck{Request: b.Request("check " + args[0]), Owner: Owner(args[0]), Addr: addr})
	case "status":
		b.Step(agent.PodStatus{Request: b.Request("status")})
	case "gc":
		e := agent.PodGC{Request: b.Request("gc"), Network: "k8s"}
		for _, c := range args {
			e.Valid = append(e.Valid, Owner(c))
		}
		b.Step(e)
	case "node-gone":
		for _, name := range l.Names {
			l.Machines[name].Step(agent.NodeGone{Name: b.Name, UID: b.UID})
		}
	case "node-seen":
		for _, name := range l.Names {
			l.Machines[name].Step(b.Seen())
		}
	case "own-seen":
		b.Step(b.Seen())
	case "nodes-listed":
		b.Step(agent.NodesListed{})
	case "own-address":
		addr, _ := netip.ParsePrefix(args[0]) // "-" is none
		b.Step(agent.OwnAddress{Addr: addr})
	case "hide":
		b.Hidden = true
	case "cidrs":
		b.PodCIDRs = nil
		for _, c := range args {
			p, err := netip.ParsePrefix(c)
			if err != nil {
				return err
			}
			b.PodCIDRs = append(b.PodCIDRs, p)
		}
	case "patience":
		d, err := time.ParseDuration(args[0])
		b.Config.ClaimPatience = d
		return err
	case "scan":
		b.Config.ScanIPNeighbors = args[0] == "on"
	case "nic":
		b.Config.NodeConfig = append(b.Config.NodeConfig, agent.NodeConfig{NodeName: b.Name,
			NodeConfigSpec: agent.NodeConfigSpec{MainVPPInterface: agent.InterfaceConfig{InterfaceName: args[0]}}})
	case "pods-by":
		b.Config.PodInterconnect = agent.PodInterconnect(args[0])
	case "memifs-in":
		b.Config.MemifFolder = args[0]
	case "pod-if":
		b.Config.IPAMConfig.PodIfIPCIDR = args[0]
	case "gateway":
		b.Config.NodeConfig = append(b.Config.NodeConfig, agent.NodeConfig{NodeName: args[0], NodeConfigSpec: agent.NodeConfigSpec{Gateway: args[1]}})
	case "plan":
		b.showPlan(args[0])
	case "other-nic":
		return b.otherNIC(args)
	case "nat-external":
		b.Config.Services, b.Config.NatExternalTraffic = agent.ServicesVPP, true
	case "steal":
		b.Config.StealInterface = strings.TrimPrefix(args[0], "none")
	case "links":
		b.tellLinks()
	case "return-nic":
		b.Step(agent.ReturnNIC{})
	case "host":
		b.showHost()
	case "address-gone":
		addr, err := netip.ParsePrefix(args[1])
		if err != nil {
			return err
		}
		return b.Host.Apply(vppwire.AddrDel{Link: args[0], Addr: addr})
	case "dhcp":
		b.Config.IPAMConfig.NodeInterconnectDHCP = true
	case "static":
		b.Config.IPAMConfig.NodeInterconnectDHCP = false
	case "vpp-nic":
		b.KillVPP()
		b.NICs = args
		b.StartVPP()
	case "lease":
		addr, err := netip.ParsePrefix(args[0])
		if err != nil {
			return err
		}
		return b.VPP.BindLease(1, vppmodel.Lease{Addr: addr})
	case "lease-lost":
		return b.VPP.BindLease(1, vppmodel.Lease{})
	case "add-at":
		addr, err := netip.ParseAddr(args[2])
		if err != nil {
			return err
		}
		b.AddAt(args[0], args[1], addr)
	case "add-wants":
		var wanted []netip.Addr
		for _, text := range args[2:] {
			addr, err := netip.ParseAddr(text)
			if err != nil {
				return err
			}
			wanted = append(wanted, addr)
		}
		b.AddWants(args[0], args[1], wanted)
	case "add-memif":
		m, known := mode.MemifOf(args[2])
		if !known {
			return fmt.Errorf("%q is no memif", args[2])
		}
		b.AddMemif(args[0], args[1], m)
	case "watch-lost":
		b.Step(agent.StoreWatchLost{Watch: l.Store.Watch(b)})
	case "show":
		l.Settle()
		l.Out.WriteString(b.State())
	case "wrote":
		l.Settle()
		l.Out.WriteString(b.Wrote())
	case "journal":
		l.Settle()
		for _, text := range b.Journal {
			l.Out.WriteString(text + "\n")
		}
	case "fill":
		return b.fill(args)
	default:
		return errors.New("unknown word")
	}
	return nil
}

// fill adds pods p0, p1 and so on, as many as asked for.
func (b *Machine) fill(args []string) error {
	n, err := strconv.Atoi(args[0])
	for i := range n {
		name := "p" + strconv.Itoa(i)
		b.Add(name, name)
	}
	b.lab.Settle()
	return err
}

// otherNIC configures a further interface of the box, of an address or "dhcp".
func (b *Machine) otherNIC(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("other-nic %q: want a name and an address, or dhcp", args)
	}
	nic := agent.InterfaceConfig{InterfaceName: args[0], IP: args[1]}
	if args[1] == "dhcp" {
		nic.IP, nic.UseDHCP = "", true
	}
	n := b.Config.GetNodeConfig(b.Name)
	if n == nil {
		b.Config.NodeConfig = append(b.Config.NodeConfig, agent.NodeConfig{NodeName: b.Name})
		n = b.Config.GetNodeConfig(b.Name)
	}
	n.OtherVPPInterfaces = append(n.OtherVPPInterfaces, nic)
	return nil
}

// showPlan prints the lines of what the agent wants and knows that have a word.
func (b *Machine) showPlan(word string) {
	b.lab.Settle()
	for line := range strings.Lines(string(b.Agent.AppendPlan(nil))) {
		if strings.Contains(line, word) {
			b.lab.Out.WriteString(b.Name + " " + line)
		}
	}
}

// showHost prints what the host's own links and routes are, connected ones left out.
func (b *Machine) showHost() {
	state, err := b.Host.Dump("")
	if err != nil {
		b.lab.t.Fatalf("%s: %v", b.Name, err)
	}
	for _, l := range state.Links {
		text := "link " + l.Name
		for _, a := range l.Addrs {
			text += " " + a.String()
		}
		if l.OwnARP {
			text += " own-arp"
		}
		b.print(text)
	}
	for _, r := range state.Routes {
		if r.Via.IsValid() {
			b.print(fmt.Sprintf("route %s via %s dev %s metric %d", r.Dst, r.Via, r.Link, r.Metric))
		}
	}
}

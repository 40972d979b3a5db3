package gen

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Systems is Small with another address management system than Contiv's: its controllers lose their leaders and ranges come
// and go.
func Systems() Profile {
	others := slices.DeleteFunc(scenarios.Systems(), func(r *scenarios.AddressSystem) bool { return r.Name == scenarios.Contiv })
	p, err := Small().Of(others...)
	if err != nil {
		panic("gen: " + err.Error())
	}
	p.Name = "systems"
	return p
}

// Ranges of a run with another system. The first one is always there; the second comes and goes.
var (
	systemSubnet = netip.MustParsePrefix("10.1.0.0/16")
	systemFirst  = netip.MustParsePrefix("10.1.0.0/18")
	systemSecond = netip.MustParsePrefix("10.1.64.0/18")
)

// drawSystem gives a scenario one of the systems. What changed the address plan becomes what happens to controllers and ranges. It reports
// whether the size of the ranges is settled.
func (d drawer) drawSystem(s *scenarios.Scenario, systems []*scenarios.AddressSystem) (sized bool) {
	c := &s.Config.IPAM
	row := one(d, "system", systems...)
	c.Use(row)
	c.ClientQPS = one(d, "client qps", 0, 0, 5)
	c.PodSubnetCIDR, c.Ranges = scenarios.CIDR(systemSubnet), []netip.Prefix{systemFirst}
	sized = row.Draws.Draw(d.c, c)
	t := c.Traits()
	if !t.Leader {
		c.ClientQPS = 0 // nothing asks the API server
	}
	second := false
	for i := range s.Timeline {
		if _, ok := s.Timeline[i].Action.(scenarios.ChangeCIDR); !ok {
			continue
		}
		switch {
		case t.Leader && d.coin("controller restarted", 4):
			s.Timeline[i].Action = restartedController(d, c)
		case t.Ranges == scenarios.RangesStay && t.Leader:
			s.Timeline[i].Action = lostLeader(d)
		case t.Ranges == scenarios.RangesStay:
			s.Timeline[i].Action = scenarios.Settle{}
		case t.Leader && d.coin("leader lost", 2):
			s.Timeline[i].Action = lostLeader(d)
		case second && t.Ranges == scenarios.RangesComeAndGo:
			s.Timeline[i].Action = scenarios.RemoveRange{CIDR: systemSecond}
			second = false
		case second:
			s.Timeline[i].Action = scenarios.LoseLeader{Pause: d.between("pause", time.Second, time.Minute)}
		default:
			s.Timeline[i].Action = scenarios.AddRange{CIDR: systemSecond}
			second = true
		}
	}
	return sized
}

// drawTight leaves some of the other systems' clusters, too, few blocks or addresses, so that ranges run out until there is a second one or pods and
// nodes go.
func (d drawer) drawTight(c *scenarios.IPAM) {
	if !d.coin("tight ranges", 4) {
		return
	}
	bits := c.Ranges[0].Bits() + 8
	if c.PodSubnetOneNodePrefixLen != 0 {
		bits = c.PodSubnetOneNodePrefixLen - 2 - d.c.Pick("eight blocks, not four", 2)
	}
	c.Ranges[0] = netip.PrefixFrom(c.Ranges[0].Addr(), bits)
}

// drawAsked has something go wrong with one kind of the system's requests: chance strikes all kinds alike, and most requests are of few.
func (d drawer) drawAsked(s *scenarios.Scenario, names []string) {
	if d.coin("request of the system", 3) {
		s.Faults.Inject = append(s.Faults.Inject, d.askedFault(names))
	}
}

// askedFault draws what goes wrong with a system's request.
func (d drawer) askedFault(names []string) string {
	name := names[d.c.Pick("which request of the system", len(names))]
	when := one(d, "when it goes wrong", "Nth", "First") + " " + strconv.Itoa(1+d.c.Pick("how often it goes wrong", 4))
	outcome := one(d, "how it goes wrong", "Mute", "Vanish", "(Refuse 0)", "(Refuse 0)", "(Delay 3s)", "CrashBefore", "CrashAfter")
	return "(" + when + " (Request " + name + " " + outcome + "))"
}

// lostLeader is a leader that is cut off or, sometimes, stands still for longer than its lease.
func lostLeader(d drawer) scenarios.LoseLeader {
	a := scenarios.LoseLeader{Pause: d.between("pause", time.Second, time.Minute), Within: d.coin("within takeover", 2)}
	a.Asleep = !a.Within && a.Pause >= 20*time.Second && d.coin("asleep", 2)
	return a
}

// restartedController is a controller that is restarted, where it can with longer blocks, which every range has room for.
func restartedController(d drawer, c *scenarios.IPAM) (a scenarios.RestartController) {
	if c.System == scenarios.NodeIPAM && !c.NodeIPAM.Allocator.InCloud() && d.coin("other blocks", 2) {
		a.PodSubnetOneNodePrefixLen = min(c.PodSubnetOneNodePrefixLen+1+d.c.Pick("longer blocks", 2), 28)
	}
	return a
}

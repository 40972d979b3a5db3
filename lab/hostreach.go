package lab

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const (
	// loginPace is how often somebody says something to each host whose NIC VPP takes, and how often its answers are looked at.
	loginPace = 100 * time.Millisecond
	// loginSilence is how long an answer may be missing until the host counts as out of reach: TCP repeats a packet after 200 and
	// 600 ms, and after 1.4 s, so that three lost in a row are no outage.
	loginSilence = 2 * time.Second
	// loginPatience is how long a new connection may take: TCP asks once in that time.
	loginPatience = time.Second
)

// openGateway puts the router of hosts whose NIC VPP takes on the wire.
func (w *World) openGateway() (err error) {
	s := w.scenario()
	if !s.Config.Wiring.StealNIC {
		return nil
	}
	wired, ok := w.fabric.(Wired)
	if !ok {
		return Cannot("world %s has no wire on which nodes' gateway could be", w.Name())
	}
	var addrs []netip.Prefix
	for k := range s.Topology.HostIPs {
		addrs = append(addrs, netip.PrefixFrom(s.HostGateway(k), s.Management(1, k).Bits()))
	}
	w.gateway, err = wired.Gateway(addrs, []netip.Addr{scenarios.Stranger})
	return err
}

// reach watches whether a host answers on the wire, while its machine has power.
type reach struct {
	n      *node
	logins *probe.Logins
	cancel context.CancelFunc
	wg     sync.WaitGroup
	lines  []*line
	told   bool
	last   fact.HostReach
	// life is VPP's at the last look, -1 where it was stopped: see lifeNow.
	life int
}

// line is one address of a host, and who asks it.
type line struct {
	from probe.Place
	to   netip.Addr
	// logins are the connections, oldest first: a new one is tried where those that stand are silent.
	logins []*probe.Login
	trying chan *probe.Login
	// answered is when the host last answered on any of them, and life which VPP it had then.
	answered time.Time
	life     int
}

// watchHost begins to watch a machine that has just booted. n.mu is held.
func (n *node) watchHost() error {
	if !n.w.scenario().Config.Wiring.StealNIC || n.w.o.TimeScale != 1 { // see World.Evidence
		return nil
	}
	r := &reach{n: n}
	var err error
	if r.logins, err = probe.ServeLogins(n.machine.Netns("")); err != nil {
		return err
	}
	now := time.Now()
	for _, to := range n.management {
		for _, from := range [...]netip.Addr{n.w.scenario().HostGateway(0), scenarios.Stranger} {
			r.lines = append(r.lines, &line{from: probe.Place{Name: from.String(), Netns: n.w.gateway, Addr: from}, to: to, answered: now})
		}
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	n.reach = r
	r.wg.Go(func() { r.watch(ctx) })
	return nil
}

// stop ends it; nil is fine.
func (r *reach) stop() {
	if r == nil {
		return
	}
	r.cancel()
	r.wg.Wait()
	r.logins.Close()
}

func (r *reach) watch(ctx context.Context) {
	tick := time.NewTicker(loginPace)
	defer tick.Stop()
	before := time.Now()
	for {
		select {
		case <-ctx.Done():
			for _, l := range r.lines {
				l.close()
			}
			return
		case <-tick.C:
		}
		now := time.Now()
		if late := now.Sub(before) - loginPace; late > loginSilence/4 {
			for _, l := range r.lines { // this program was away itself
				l.answered = l.answered.Add(late)
			}
		}
		before = now
		r.look(now)
	}
}

// look reports what has changed. An answer since the last look counts for the VPP that was there then.
func (r *reach) look(now time.Time) {
	why := ""
	for _, l := range r.lines {
		if wrong := l.look(now, r.life); wrong != "" && why == "" {
			why = wrong
		}
	}
	n := r.n
	n.mu.Lock()
	r.life = n.vpp.life
	if n.vpp.paused {
		r.life = -1
	}
	lived := n.vpp.proc != nil && !n.vpp.paused
	if why != "" {
		for _, l := range r.lines {
			lived = lived && l.life == n.vpp.life
		}
	}
	x := fact.HostReach{Reached: why == "", VPPLived: lived, AgentUp: n.agent.proc != nil && !n.agent.paused, Why: why, Way: nil}
	n.mu.Unlock()
	if r.told && x.Same(r.last) {
		return
	}
	if !x.Reached && x.VPPLived {
		if starved := n.w.starved(); starved != "" {
			return // nobody can say whether the host would have answered
		}
	}
	text := n.name + "'s host is in reach"
	if !x.Reached {
		text = n.name + "'s host is out of reach: " + x.Why
	}
	if r.told && x.Reached == r.last.Reached {
		text = ""
	}
	r.told, r.last = true, x
	n.w.Record.Tell(fact.Fact{Node: n.name, What: x}, text)
}

// look tries again where nobody answers, and says what is wrong; life is VPP's of the answers that have come.
func (l *line) look(now time.Time, life int) (wrong string) {
	select {
	case login := <-l.trying:
		l.trying = nil
		if login != nil {
			l.logins = append(l.logins, login)
		}
	default:
	}
	for i := 0; i < len(l.logins); i++ {
		last, err := l.logins[i].Answered()
		if last.After(l.answered) {
			l.answered, l.life = last, life
		}
		if err != nil {
			wrong = fmt.Sprintf("a connection of %s with %s has ended: %v", l.from.Name, l.to, err)
			l.logins[i].Close()
			l.logins = append(l.logins[:i], l.logins[i+1:]...)
			i--
		}
	}
	silence := now.Sub(l.answered)
	if len(l.logins) > 1 && silence < loginPace*2 { // one is enough: the oldest, once it is heard
		if last, _ := l.logins[0].Answered(); now.Sub(last) < loginPace*2 {
			for _, login := range l.logins[1:] {
				login.Close()
			}
			l.logins = l.logins[:1]
		}
	}
	if l.trying == nil && (len(l.logins) == 0 || silence > loginSilence/4 && len(l.logins) < 3) {
		trying := make(chan *probe.Login, 1)
		l.trying = trying
		go func() {
			login, _ := probe.OpenLogin(l.from, l.to, loginPace, loginPatience) // its silence says all
			trying <- login
		}()
	}
	if wrong == "" && silence > loginSilence {
		wrong = fmt.Sprintf("%s does not answer connections of %s for %s", l.to, l.from.Name, loginSilence)
	}
	return wrong
}

// close ends the connections.
func (l *line) close() {
	if l.trying != nil {
		if login := <-l.trying; login != nil {
			l.logins = append(l.logins, login)
		}
	}
	for _, login := range l.logins {
		login.Close()
	}
	l.logins = nil
}

package agent_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// Goal: whenever an agent dies that takes a NIC from its host, or gives it back, the host is reached at its address and
// has its routes, and the next life ends where the first would have. Method: every effect of five stretches of an
// agent's life, before and after each; the host is judged after each effect.
func TestStealCrashes(t *testing.T) {
	for _, stretch := range []struct {
		name, before, play, after string
		// stolen: VPP has the NIC in the end. fresh: a VPP that has just come has yet to hear what leads to the host.
		stolen, fresh bool
	}{
		{"taken", "", "up n1", "", true, false},
		{"found", "up n1\nsettle", "kill n1\nup n1", "", true, false},
		{"VPP restarts", "up n1", "vpp-kill n1\nvpp-start n1", "", true, true},
		{"given back while VPP is away", "up n1\nsettle\nvpp-kill n1", "pass 5s", "pass 10s", false, true},
		{"taken again", "up n1\nsettle\nvpp-kill n1\npass 5s", "vpp-start n1", "", true, false},
		{"given back for good", "up n1", "return-nic n1", "return-nic n1", false, false},
		{"given back by configuration", "up n1\nsettle\nkill n1\nsteal n1 none", "up n1", "", false, false},
	} {
		t.Run(stretch.name, func(t *testing.T) {
			points := 0
			for at := 0; at <= points; at++ { // the first run has no crash and counts
				l := story.New(t)
				play(t, l, "box n1\nvpp-nic n1 uplink0\nsteal n1 eth0\n"+stretch.before)
				n, b, died := 0, l.Machines["n1"], false
				l.Crash = func(_ *story.Machine, e agent.Effect, after bool) bool {
					if n++; !died {
						judgeHost(t, b, stretch.fresh, string(e.AppendText(nil)))
					}
					if n == at && !died {
						died = true
						return true
					}
					return false
				}
				play(t, l, stretch.play)
				if at == 0 {
					points = n
				}
				if died {
					judgeHost(t, b, stretch.fresh, "the agent has died")
					play(t, l, "up n1\n"+stretch.after)
				}
				play(t, l, "settle")
				judgeHost(t, b, false, "the end")
				if _, onNIC := hostHas(b, "eth0"); onNIC == stretch.stolen {
					t.Errorf("crash %d: the NIC has the address: %t", at, onNIC)
				}
				if t.Failed() {
					t.Fatalf("crash %d of %d:\n%s", at, points, l.Out.String())
				}
			}
			if points == 0 {
				t.Error("nothing was performed")
			}
		})
	}
}

func play(t *testing.T, l *story.Lab, block string) {
	t.Helper()
	if _, err := l.Play(strings.TrimSpace(block)); err != nil {
		t.Fatal(err)
	}
}

var own = netip.MustParsePrefix("10.20.0.1/24")

// hostHas reports whether a link of the host's has its address.
func hostHas(b *story.Machine, link string) (l vppwire.LinuxLink, has bool) {
	l, ok := b.Host.Link("", link)
	for _, a := range l.Addrs {
		has = has || ok && a == own
	}
	return l, has
}

// judgeHost fails where the host is not reached: neither has the NIC's link its address and the default route, nor the
// interconnect both and VPP what leads there. fresh: VPP may have yet to hear of it, and while there is none the agent's
// patience is not over.
func judgeHost(t *testing.T, b *story.Machine, fresh bool, when string) {
	t.Helper()
	r, routed := b.Host.Route("", netip.MustParseAddr("8.8.8.8"))
	_, onNIC := hostHas(b, "eth0")
	_, inside := hostHas(b, "vpp1")
	switch {
	case !routed:
		t.Errorf("%s: the host has no default route", when)
	case !onNIC && !inside:
		t.Errorf("%s: nothing has the host's address", when)
	case r.Link == "vpp1" && !inside, r.Link == "eth0" && !onNIC:
		t.Errorf("%s: the default route leaves by %s, which has no address", when, r.Link)
	case r.Link == "vpp1" && b.VPP == nil && !fresh:
		t.Errorf("%s: the host hangs on a VPP that is not there", when)
	case r.Link == "vpp1" && !fresh && !strings.Contains(b.VPP.Text(), "stn 10.20.0.1 "):
		t.Errorf("%s: VPP has no rule for the host's address", when)
	}
}

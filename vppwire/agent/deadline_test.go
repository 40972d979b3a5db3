package agent_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// Goal: a look at leases that is answered at the instant at which a gone node's ID has rested does not put that off.
// Method: the look goes out shortly before, and its answer is held back until then.
func TestAnswerAtADeadline(t *testing.T) {
	l := story.New(t)
	play := func(lines ...string) string {
		out, err := l.Play(strings.Join(lines, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	play("box n1", "box n2", "vpp-nic n1 eth9", "dhcp n1", "up n1", "up n2", "node-seen n1", "node-seen n2", "pass 1s", "lease n1 192.168.16.50/24", "pass 20s", "pass 100ms", "kill n2", "node-gone n2", "uid n2 -", "settle")
	rested := l.Now.Add(DefaultNodeIDQuarantine)
	b := l.Machines["n1"]
	l.Pass(DefaultNodeIDQuarantine - 5*time.Second) // it looks each 5 s
	for l.Now = l.Now.Add(time.Millisecond); len(l.Busy()) == 0 && l.Now.Before(rested); l.Now = l.Now.Add(time.Millisecond) {
		b.Step(Woke{})
	}
	if len(l.Busy()) == 0 {
		t.Fatal("nothing looks at leases before the ID has rested")
	}
	l.Now = rested
	l.Settle()
	if out := play("store show"); !strings.Contains(out, `"released_at":"1970-01-01T00:00:00Z"`) {
		t.Errorf("the ID has rested, and its record does not say so:\n%s", out)
	}
}

package agent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// TestHooks: the driver's hooks after addition end before the answer, those before removal before any change of VPP;
// their errors are logged and change nothing.
func TestHooks(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Config.EmitHooks = true
	b.Config.PodInterconnect = PodInterconnectVeth // an interface for each pod
	b.Start()
	b.Tell()
	l.Settle()
	var asked []bool
	wired := func() string {
		for p := range b.Agent.Attachments() {
			return p.Interface
		}
		return ""
	}
	b.Hooked = func(h Hook) {
		asked = append(asked, h.Before)
		if h.Sandbox.PodNamespace != "default" || h.Sandbox.PodName != "web-0" || h.Interface != wired() || !strings.HasPrefix(wired(), "host-vd") {
			t.Errorf("hook %+v on interface %q", h, wired())
		}
	}
	b.Add("web-0", "c1")
	l.Settle()
	if _, early := l.Answers["n1/add c1"]; early {
		t.Error("answered before the driver's hooks")
	}
	b.Agent.Step(l.Now, Hooked{ID: 99}) // past the contract
	b.Step(Hooked{ID: 1, Err: errors.New("sad")})
	if a, ok := l.Answers["n1/add c1"]; !ok || a.Code != CodeOK {
		t.Errorf("answer %+v, %t", a, ok)
	}
	writes := b.VPP.Writes()
	b.Del("c1")
	l.Settle()
	if b.VPP.Writes() != writes {
		t.Error("VPP was changed before the hooks had run")
	}
	b.Step(Hooked{ID: 2})
	l.Settle()
	if _, ok := l.Answers["n1/del c1"]; !ok {
		t.Error("the DEL is not answered")
	}
	if !slices.Equal(asked, []bool{false, true}) {
		t.Errorf("hooks asked for, before removal: %v", asked)
	}
	if !strings.Contains(l.Out.String(), "sad") {
		t.Error("a hook's error is not logged")
	}
}

// Goal: a life that ends while hooks run has the next one run them: behind the addition when the ADD is repeated, before the
// removal whoever asks for it. One that was answered is not repeated by itself. Method: the machine's agent is killed at each of
// the two hooks.
func TestHooksOutlive(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Config.EmitHooks = true
	b.Start()
	b.Tell()
	l.Settle()
	var asked []string
	var last Hook
	b.Hooked = func(h Hook) {
		last = h
		word := "after "
		if h.Before {
			word = "before "
		}
		asked = append(asked, word+h.Sandbox.PodName)
	}
	restart := func() {
		b.Kill()
		b.Start()
		b.Tell()
		l.Settle()
	}
	b.Add("web-0", "c1")
	l.Settle()
	restart() // while the hook after the addition runs
	b.Add("web-0", "c1")
	l.Settle()
	b.Step(Hooked{ID: last.ID})
	if a, ok := l.Answers["n1/add c1"]; !ok || a.Code != CodeOK {
		t.Errorf("answer %+v, %t", a, ok)
	}
	b.Add("web-0", "c1") // the runtime has lost the answer: the hook has run in this life
	b.Del("c1")
	l.Settle()
	restart() // while the hook before the removal runs
	b.Del("c1")
	l.Settle()
	b.Step(Hooked{ID: last.ID})
	l.Settle()
	if _, ok := l.Answers["n1/del c1"]; !ok {
		t.Error("the DEL is not answered")
	}
	if want := []string{"after web-0", "after web-0", "before web-0", "before web-0"}; !slices.Equal(asked, want) {
		t.Errorf("hooks asked for: %q", asked)
	}
}

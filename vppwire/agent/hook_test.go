package agent

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestHooks: the driver's hooks after addition end before the answer, those before removal before any change of VPP; their
// errors are logged and change nothing.
func TestHooks(t *testing.T) {
	l := newLab(t)
	b := l.box("n1")
	b.cfg.Hooks = true
	b.start()
	b.api()
	l.settle()
	var asked []bool
	wired := func() string {
		for p := range b.agent.Attachments() {
			return p.Interface
		}
		return ""
	}
	b.asked = func(h Hook) {
		asked = append(asked, h.Before)
		if h.Namespace != "default" || h.PodName != "web-0" || !strings.HasPrefix(wired(), "host-vd") {
			t.Errorf("hook %+v on interface %q", h, wired())
		}
	}
	b.add("web-0", "c1")
	l.settle()
	if _, early := l.answers["n1/add c1"]; early {
		t.Error("answered before the driver's hooks")
	}
	b.step(Hooked{ID: 99})
	b.step(Hooked{ID: 1, Err: errors.New("sad")})
	if a, ok := l.answers["n1/add c1"]; !ok || a.Code != CodeOK {
		t.Errorf("answer %+v, %t", a, ok)
	}
	writes := b.vpp.Writes()
	b.del("c1")
	l.settle()
	if b.vpp.Writes() != writes {
		t.Error("VPP was changed before the hooks had run")
	}
	b.step(Hooked{ID: 2})
	l.settle()
	if _, ok := l.answers["n1/del c1"]; !ok {
		t.Error("the DEL is not answered")
	}
	if !slices.Equal(asked, []bool{false, true}) {
		t.Errorf("hooks asked for, before removal: %v", asked)
	}
	if !strings.Contains(l.out.String(), "sad") {
		t.Error("a hook's error is not logged")
	}
}

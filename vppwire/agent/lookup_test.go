package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLookups: what others may ask about a node and its pods, before and after there is something to tell.
func TestLookups(t *testing.T) {
	l := newLab(t)
	b := l.box("n1")
	b.cfg.TCPNATSessionTimeout = 90
	b.start()
	a := b.agent
	if p := a.GetNodeIP(); p.IsValid() || a.GetPodNetwork().IsValid() || a.GetNatLoopbackIP().IsValid() {
		t.Errorf("a node without ID has addresses: %s", p)
	}
	var told []string
	a.WatchNodeIP(func(p netip.Prefix) { told = append(told, p.String()) })
	b.step(HostAddresses{Addrs: []netip.Addr{netip.MustParseAddr("10.20.0.1")}})
	b.api()
	l.settle()
	b.add("web-0", "c1")
	b.add("web-1", "c2")
	l.settle()
	name, ok := a.GetIfName("default", "web-0")
	if !ok || !strings.HasPrefix(name, "host-vd") {
		t.Errorf("interface of web-0 is %q, %t", name, ok)
	}
	if ns, pod, ok := a.GetPodByIf(name); !ok || ns != "default" || pod != "web-0" {
		t.Errorf("pod of %s is %s/%s, %t", name, ns, pod, ok)
	}
	if _, ok := a.GetIfName("default", "nobody"); ok {
		t.Error("nobody has an interface")
	}
	if _, _, ok := a.GetPodByIf(""); ok {
		t.Error("no interface has a pod")
	}
	_, hasNs := a.GetNsIndex("default", "web-0")
	_, _, byNs := a.GetPodByAppNsIndex(1)
	ifName, ifAddr := a.GetDefaultInterface()
	idx := a.GetContainerIndex()
	got := fmt.Sprintln(
		a.GetPodSubnet(), a.GetPodNetwork(), a.GetNatLoopbackIP(), a.GetNodeIP(), a.GetHostIPs(), told, "\n",
		hasNs, byNs, a.IsTCPstackDisabled(), a.InSTNMode(), a.NatExternalTraffic(), a.CleanupIdleNATSessions(),
		a.GetTCPNATSessionTimeout(), a.GetOtherNATSessionTimeout(), a.GetServiceLocalEndpointWeight(), "\n",
		a.GetMainPhysicalIfName(), a.GetOtherPhysicalIfNames(), a.GetHostInterconnectIfName(), a.GetVxlanBVIIfName(), ifName, ifAddr,
		a.GetMainVrfID(), a.GetPodVrfID(), "\n",
		len(idx.ListAll()), len(idx.LookupContainer("c1")), len(idx.LookupPodName("web-1")), len(idx.LookupPodNamespace("default")),
		len(idx.LookupPodIf(name)), idx.ListAll()[1].Addr, a.Reserved())
	want := `10.1.0.0/16 10.1.1.0/24 10.1.1.254 192.168.16.1/24 [10.20.0.1] [192.168.16.1/24] 
 false false true false false false 90 5 1 
  [] host-vpp2 loop0  invalid IP 0 1
 2 1 1 2 1 10.1.1.3 [10.1.1.0 10.1.1.1 10.1.1.254 10.1.1.255]`
	if clean(got) != clean(want) {
		t.Errorf("lookups say\n%s\nnot\n%s", got, want)
	}
}

func clean(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestDefaultInterface: the main NIC where the gateway is in its subnet, as upstream; never a crash without node config.
func TestDefaultInterface(t *testing.T) {
	for _, c := range []struct{ gateway, want string }{
		{"192.168.1.100", "GigabitEthernet0/8/0 192.168.1.1"}, {"10.9.9.9", " invalid IP"}, {"", " invalid IP"},
	} {
		l := newLab(t)
		b := l.box("n1")
		b.cfg.NodeConfig = []NodeConfig{{NodeName: "n1", NodeConfigSpec: NodeConfigSpec{Gateway: c.gateway,
			MainVPPInterface: InterfaceConfig{InterfaceName: "GigabitEthernet0/8/0", IP: "192.168.1.1/24"}}}}
		b.start()
		b.api()
		l.settle()
		name, addr := b.agent.GetDefaultInterface()
		if got := name + " " + addr.String(); got != c.want {
			t.Errorf("gateway %q: default interface is %q, not %q", c.gateway, got, c.want)
		}
	}
}

// TestHooks: hooks after addition run before the answer, hooks before removal before any change of VPP; their errors are
// logged and change nothing; a driver's Hook effects are waited for.
func TestHooks(t *testing.T) {
	l := newLab(t)
	b := l.box("n1")
	b.cfg.Hooks = true
	b.start()
	b.api()
	l.settle()
	var ran []string
	hook := func(word string, err error) PodActionHook {
		return func(ns, pod string) error {
			_, wired := b.agent.GetIfName(ns, pod)
			ran = append(ran, fmt.Sprint(word, " ", ns, "/", pod, " wired=", wired))
			return err
		}
	}
	b.agent.RegisterPodPostAddHook(hook("after-1", errors.New("sad")))
	b.agent.RegisterPodPostAddHook(hook("after-2", nil))
	b.agent.RegisterPodPreRemovalHook(hook("before", nil))
	b.add("web-0", "c1")
	l.settle()
	if _, early := l.answers["n1/add c1"]; early {
		t.Error("answered before the driver's hooks")
	}
	b.step(Hooked{ID: 99})
	b.step(Hooked{ID: 1, Err: errors.New("also sad")})
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
	want := []string{"after-1 default/web-0 wired=true", "after-2 default/web-0 wired=true", "before default/web-0 wired=true"}
	if !slices.Equal(ran, want) {
		t.Errorf("hooks ran as %q", ran)
	}
	if log := l.out.String(); !strings.Contains(log, "sad") || !strings.Contains(log, "also sad") {
		t.Error("a hook's error is not logged")
	}
}

// TestAddPatience: an ADD that VPP goes on refusing fails with the reason and is undone; its address is free again.
func TestAddPatience(t *testing.T) {
	l := newLab(t)
	b := l.box("n1")
	b.start()
	b.api()
	l.settle()
	l.mishap = func(_ *box, what string) mishap {
		if what == "call" {
			return refused
		}
		return fine
	}
	b.add("web-0", "c1")
	l.pass(29 * time.Second)
	if a, ok := l.answers["n1/add c1"]; ok {
		t.Errorf("answered too early: %+v", a)
	}
	l.pass(2 * time.Second)
	if a := l.answers["n1/add c1"]; a.Code != CodeTryAgain || !strings.Contains(a.Message, errRefused.Error()) {
		t.Errorf("answer is %+v", a)
	}
	l.mishap = nil
	l.pass(time.Minute)
	if s := b.state(); strings.Contains(s, "pod") || strings.Contains(s, "pending") {
		t.Errorf("left behind: %s", s)
	}
}

// TestEarlyEvents: what comes before the journal has been read waits for it.
func TestEarlyEvents(t *testing.T) {
	a, err := New(testConfig("n1"), freshAllocator(t))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0)
	if out := a.Step(now, PodStatus{Request: 1}); len(out) != 0 {
		t.Errorf("answered before the journal was read: %v", out)
	}
	if a.Pending() == "" || a.Idle() {
		t.Error("idle before the journal was read")
	}
	answers := 0
	for _, e := range a.Step(now, Restored{}) {
		if e, ok := e.(Answer); ok && e.Code == CodeUnavailable {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("%d answers", answers)
	}
}

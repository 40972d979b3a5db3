package contiv_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/host/contiv"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
)

// Goal: every lookup of contiv/vpp's API answers from the agent's state, and with nothing once the agent has stopped. Method: a
// node with a NIC, a gateway, services and two pods, asked by each name.
func TestLookups(t *testing.T) {
	n := newNode(t)
	watched := make(chan string, 1)
	n.startAgent(func(p *contiv.Plugin) { p.WatchNodeIP(watched) })
	var api contiv.API = n.plugin
	n.add(1)
	n.add(2)
	select {
	case got := <-watched:
		if got != "192.168.16.1/24" {
			t.Errorf("told of node address %q", got)
		}
	case <-time.After(patience):
		t.Error("nobody told of the node's address")
	}
	name, exists := api.GetIfName("default", "web-1")
	if !exists || !strings.HasPrefix(name, "host-vd") {
		t.Fatalf("interface of web-1: %q, %t", name, exists)
	}
	if ns, pod, exists := api.GetPodByIf(name); !exists || ns != "default" || pod != "web-1" {
		t.Errorf("pod of %s: %s/%s, %t", name, ns, pod, exists)
	}
	ip, network := api.GetNodeIP()
	defaultIf, defaultAddr := api.GetDefaultInterface()
	said := func() string {
		_, noPod := api.GetIfName("default", "web-9")
		_, _, noIf := api.GetPodByIf("")
		_, nsIndex := api.GetNsIndex("default", "web-1")
		_, _, byNsIndex := api.GetPodByAppNsIndex(1)
		return fmt.Sprintln(noPod, noIf, nsIndex, byNsIndex, api.GetPodSubnet(), api.GetPodNetwork(), api.GetNatLoopbackIP(), api.GetHostIPs(), ip, network,
			api.IsTCPstackDisabled(), api.InSTNMode(), api.NatExternalTraffic(), api.CleanupIdleNATSessions(), api.GetTCPNATSessionTimeout(),
			api.GetOtherNATSessionTimeout(), api.GetServiceLocalEndpointWeight(), api.GetMainPhysicalIfName(), api.GetOtherPhysicalIfNames(),
			api.GetHostInterconnectIfName(), api.GetVxlanBVIIfName(), defaultIf, defaultAddr, api.GetMainVrfID(), api.GetPodVrfID())
	}
	const want = "false false false false 10.1.0.0/16 10.1.1.0/24 10.1.1.254 [10.20.0.1] 192.168.16.1 192.168.16.0/24 " +
		"true false true true 90 5 3 GigabitEthernet0/8/0 [] host-vpp2 loop0 GigabitEthernet0/8/0 192.168.16.1 0 1\n"
	if got := said(); got != want {
		t.Errorf("said %s, not %s", got, want)
	}
	x := api.GetContainerIndex()
	c, found := x.LookupContainer("c2")
	if !found || c.PodName != "web-2" || len(c.Interfaces) != 1 || c.Interfaces[0].IP.String() == "" || c.Interfaces[0].Netns != "/run/netns/2" {
		t.Errorf("c2: %+v, %t", c, found)
	}
	if _, found := x.LookupContainer("c3"); found {
		t.Error("there is no c3")
	}
	got := fmt.Sprint(x.ListAll(), x.LookupPodName("web-2"), x.LookupPodNamespace("default"), x.LookupPodNamespace("other"), x.LookupPodIf(name))
	if got != "[c1 c2] [c2] [c1 c2] [] [c1]" {
		t.Errorf("index says %s", got)
	}
	n.stopAgent()
	if _, exists := api.GetIfName("default", "web-1"); exists || api.GetPodSubnet() != nil || api.GetNatLoopbackIP() != nil || len(x.ListAll()) > 0 {
		t.Error("an agent that has stopped says something")
	}
	if err := x.Watch("late", func(containeridx.ChangeEvent) {}); err == nil {
		t.Error("an agent that has stopped is watched")
	}
}

// Goal: hooks find their pod wired, are called once for each of its two ends, and what they say changes nothing. Method: two for
// the addition and one for the removal, which look up their pod.
func TestHooks(t *testing.T) {
	n := newNode(t)
	var mu sync.Mutex
	var ran []string
	n.startAgent(func(p *contiv.Plugin) {
		hook := func(word string, err error) contiv.PodActionHook {
			return func(ns, pod string) error {
				name, exists := p.GetIfName(ns, pod)
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, fmt.Sprint(word, " ", ns, "/", pod, " ", exists && name != ""))
				return err
			}
		}
		p.RegisterPodPostAddHook(hook("after-1", errors.New("sad")))
		p.RegisterPodPostAddHook(hook("after-2", nil))
		p.RegisterPodPreRemovalHook(hook("before", errors.New("sad")))
	})
	n.add(1)
	n.del(1)
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"after-1 default/web-1 true", "after-2 default/web-1 true", "before default/web-1 true"}; !slices.Equal(ran, want) {
		t.Errorf("hooks ran as %q", ran)
	}
}

// Goal: a watch tells what is there and then each change, also of what an earlier life has wired; a subscriber watches once.
// Method: pods that come and go, and a restart.
func TestWatch(t *testing.T) {
	n := newNode(t)
	n.startAgent(nil)
	n.add(1)
	x := n.plugin.GetContainerIndex()
	events := make(chan containeridx.ChangeEvent, 100)
	must(t, x.Watch("a", func(e containeridx.ChangeEvent) { events <- e }))
	if err := x.Watch("a", func(containeridx.ChangeEvent) {}); !errors.Is(err, contiv.ErrWatching) {
		t.Errorf("twice: %v", err)
	}
	expect := func(what string, fits func(containeridx.ChangeEvent) bool) {
		t.Helper()
		for {
			select {
			case e := <-events:
				if fits(e) {
					return
				}
			case <-time.After(patience):
				t.Fatalf("nobody told: %s", what)
			}
		}
	}
	here := func(id string) func(containeridx.ChangeEvent) bool {
		return func(e containeridx.ChangeEvent) bool {
			return e.Name == id && !e.Del && e.Value.Interfaces[0].VppIf != "" && !e.Value.Interfaces[0].Removing
		}
	}
	gone := func(id string) func(containeridx.ChangeEvent) bool {
		return func(e containeridx.ChangeEvent) bool { return e.Name == id && e.Del && e.Value.PodName != "" }
	}
	expect("c1 is there", here("c1"))
	n.add(2)
	expect("c2 has come", here("c2"))
	n.del(1)
	expect("c1 goes", func(e containeridx.ChangeEvent) bool {
		return e.Name == "c1" && !e.Del && e.Value.Interfaces[0].Removing
	})
	expect("c1 has gone", gone("c1"))
	x.Unwatch("a")
	n.del(2)
	n.add(3)
	if len(events) != 0 {
		t.Errorf("told after the end: %+v", <-events)
	}
	n.stopAgent()
	n.startAgent(nil)
	must(t, n.plugin.GetContainerIndex().Watch("a", func(e containeridx.ChangeEvent) { events <- e }))
	expect("c3 of the earlier life", here("c3"))
}

// Goal: what is not ready to be told of the node's address is left out, and one that does not want to be told any more is not.
func TestWatchNodeIP(t *testing.T) {
	n := newNode(t)
	never, ended := make(chan string), make(chan string, 1)
	n.startAgent(func(p *contiv.Plugin) {
		p.WatchNodeIP(never)
		p.WatchNodeIP(ended)
		p.UnwatchNodeIP(ended)
	})
	n.add(1)
	if ip, _ := n.plugin.GetNodeIP(); !ip.Equal(net.IPv4(192, 168, 16, 1)) {
		t.Errorf("node address %s", ip)
	}
	if len(ended) > 0 {
		t.Error("told after the end")
	}
}

package cmd

import (
	"encoding/json"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/host/hookprogram"
)

// Goal: a running agent calls its programs behind each addition and before each removal; one that hangs or fails holds no pod up
// for longer than its limit, and one that the agent's death has cut off runs again. Method: an agent with two scripts on a real
// VPP; a file in their folder has them hang or fail, and kill -9 of the agent while each of them hangs.
func TestRealHooks(t *testing.T) {
	vpp := findVPP(t)
	host, one := namespace(t), namespace(t)
	m := &machine{t: t, folder: shortDir(t), vpp: vpp, host: host}
	for _, name := range []string{"after", "before"} {
		must(t, os.WriteFile(m.path(name), []byte(strings.ReplaceAll("#!/bin/sh\ncat >>DIR/heard\ntest -e DIR/hang && exec sleep 60\ntest -e DIR/fail && echo no thanks && exit 9\nexit 0\n",
			"DIR", m.folder)), 0o700))
	}
	settings := func(timeout string) {
		m.write("contiv.yaml", "{TCPstackDisabled: true, ClaimPatience: 1ms, IPAMConfig: {podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 24, "+
			"nodeInterconnectCIDR: 192.168.16.0/24, vxlanCIDR: 192.168.30.0/24}, Hooks: {postAdd: "+m.path("after")+", preRemoval: "+m.path("before")+", timeout: "+timeout+"}}")
	}
	heard := func() (list []hookprogram.Event) {
		text, err := os.ReadFile(m.path("heard"))
		if os.IsNotExist(err) {
			return nil
		}
		must(t, err)
		for line := range strings.Lines(string(text)) {
			var e hookprogram.Event
			must(t, json.Unmarshal([]byte(line), &e))
			list = append(list, e)
		}
		return list
	}
	last := func(n int, hook string) hookprogram.Event {
		t.Helper()
		list := heard()
		if len(list) != n || list[n-1].Hook != hook || list[n-1].PodName != "c1" || list[n-1].Node != "node-1" {
			t.Fatalf("heard %+v, want %d, the last one %s", list, n, hook)
		}
		return list[n-1]
	}
	add := wire.Request{Command: wire.Add, ContainerID: "c1", IfName: "eth0", Netns: one.path, Args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=c1"}
	del := wire.Request{Command: wire.Del, ContainerID: "c1", IfName: "eth0"}

	settings("1m")
	m.startVPP()
	m.startAgent()
	a := m.add("c1", one)
	if e := last(1, hookprogram.PostAdd); e.Address != a || e.Netns != one.path || e.VPPInterface == "" {
		t.Errorf("heard %+v, and the pod has %s", e, a)
	}
	m.write("fail", "")
	m.ask(del)
	last(2, hookprogram.PreRemoval)

	m.write("hang", "")
	cut := func(req wire.Request, n int, hook string) { // the agent dies while a program runs
		t.Helper()
		c := make(chan error, 1)
		go func() { c <- m.cutOff(req) }()
		m.until(hook+" hangs", func() bool { return len(heard()) == n })
		last(n, hook)
		kill(t, m.agent)
		if err := <-c; err == nil {
			t.Errorf("%s was answered before %s had ended", req.Command, hook)
		}
	}
	cut(add, 3, hookprogram.PostAdd)
	must(t, os.Remove(m.path("hang")))
	m.startAgent()
	m.ask(add)
	last(4, hookprogram.PostAdd)
	m.write("hang", "")
	cut(del, 5, hookprogram.PreRemoval)
	settings("300ms")
	m.startAgent()
	m.ask(del)
	last(6, hookprogram.PreRemoval)
	m.settled()
	must(t, os.Remove(m.path("hang")))
	m.ask(del) // it is gone: there is nothing to call a program for
	last(6, hookprogram.PreRemoval)
}

// cutOff makes a request that ends without an answer; nil where there was one.
func (m *machine) cutOff(req wire.Request) error {
	req.Version, req.Network = wire.Version, "k8s"
	c, err := net.Dial("unix", m.path("cni.sock"))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := wire.Write(c, req); err != nil {
		return err
	}
	_, err = wire.ReadResponse(c)
	return err
}

package mode_test

import (
	"reflect"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Goal: what Idle names changes no object, and what it does not name changes one. Method: every pair of ways of wiring,
// every setting on and off, and the objects of a node and a pod with and without it.
func TestIdleChangesNothing(t *testing.T) {
	settings := map[string]func(*mode.Config){
		"RxRing":       func(c *mode.Config) { c.RxRing = 512 },
		"TxRing":       func(c *mode.Config) { c.TxRing = 512 },
		"KeepOffload":  func(c *mode.Config) { c.KeepOffload = true },
		"StaleMinutes": func(c *mode.Config) { c.StaleMinutes = 9 },
		"External":     func(c *mode.Config) { c.NAT.External = true },
	}
	tried := 0
	for _, pod := range []mode.PodMode{mode.PodVeth, mode.PodTap, mode.PodMacvlan} {
		for _, host := range []mode.HostMode{mode.HostNone, mode.HostVeth, mode.HostTap} {
			for _, node := range []mode.NodeMode{mode.NodeVXLAN, mode.NodeL2} {
				for bits := range 16 {
					at := mode.Around{NIC: bits&1 != 0, Gateway: bits&2 != 0}
					c := mode.Config{Pod: pod, Host: host, Node: node, PodTable: 1, ScanNeighbors: bits&4 != 0}
					c.NAT.On = bits&8 != 0 && host != mode.HostNone
					for name, set := range settings {
						if name == "External" && !c.NAT.On {
							continue // nobody is asked: without NAT no setting of it is taken
						}
						with := c
						set(&with)
						idle := false
						for _, i := range with.Idle(at) {
							idle = idle || i.Field == name
						}
						if same := reflect.DeepEqual(all(c, at), all(with, at)); same != idle {
							t.Errorf("%s with %s pods, %s hosts, %s nodes, %+v, scanning %t: idle %t, and objects are the same: %t", name, pod, host, node, at, c.ScanNeighbors, idle, same)
						}
						tried++
					}
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d settings were tried", tried)
	}
}

// all are the objects of a node and one pod.
func all(c mode.Config, at mode.Around) []vppwire.Object {
	n := nodeOne("none")
	if at.NIC {
		n.NIC = "eth0"
	}
	if at.Gateway {
		n.Gateway = addr("192.168.16.100")
	}
	pod := mode.Pod{Container: "c0ffee", IfName: "eth0", Netns: "/var/run/netns/cni-1", Addr: addr("10.1.1.2"), Gateway: addr("10.1.1.1"), Number: 1}
	return append(c.NodeObjects(n), c.PodObjects(n, pod)...)
}

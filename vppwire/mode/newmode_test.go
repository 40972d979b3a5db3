package mode

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
)

// podLoop is a way of wiring that the product does not have: a pod that lives inside of VPP, on a loopback.
type podLoop struct{ ownInterface }

func (podLoop) name(_ Config, p Pod) string { return vppwire.LoopbackName(100 + p.Number) }

func (w podLoop) ends(_ Config, o *objects, p Pod, _, vppMAC vppwire.MAC) {
	o.add(vppwire.Loopback{Instance: 100 + p.Number, MAC: vppMAC})
	o.add(vppwire.Tag{If: w.name(Config{}, p), Text: podTag(p)})
}

// Goal: a way of wiring is one file and one row. Method: the table gets a row that no other code knows; the pod's
// objects are the mode's own, and everything that belongs to a pod in any mode is on its interface.
func TestNewMode(t *testing.T) {
	podModes = append(podModes, struct {
		word string
		podWiring
	}{"loop", podLoop{}})
	defer func() { podModes = podModes[:len(podModes)-1] }()

	c := Config{Pod: PodMode(len(podModes) - 1), Node: NodeVXLAN, PodTable: 1, MTU: 1450}
	if c.Pod.String() != "loop" {
		t.Fatalf("the mode is called %s", c.Pod)
	}
	p := Pod{Container: "c", IfName: "eth0", Netns: "/n", Name: "web", Namespace: "default", Number: 3,
		Addr: netip.MustParseAddr("10.1.1.2"), Gateway: netip.MustParseAddr("10.1.1.1")}
	if got := c.PodInterface(p); got != "loop103" {
		t.Errorf("the interface is called %s", got)
	}
	made := map[vppwire.Key]bool{}
	for _, o := range c.PodObjects(Node{}, p) {
		made[o.Key()] = true
		for _, k := range o.AppendNeeds(nil) {
			if k.Kind == vppwire.KindVeth || k.Kind == vppwire.KindTap {
				t.Errorf("%s needs %s", o.Key(), k)
			}
		}
	}
	for _, o := range []vppwire.Object{vppwire.Loopback{Instance: 103}, vppwire.Tag{If: "loop103"}, vppwire.InTable{If: "loop103", Table: 1},
		vppwire.Up{If: "loop103"}, vppwire.MTU{If: "loop103"}, vppwire.Neighbor{If: "loop103", Addr: p.Addr},
		vppwire.Route{Table: 1, Prefix: netip.PrefixFrom(p.Addr, 32)}} {
		if !made[o.Key()] {
			t.Errorf("no %s", o.Key())
		}
	}
}

package check

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: a veth beside VPP that leaves checksums to hardware is seen at each of its ends, where the configuration has it
// finish them, and nowhere else. Method: one link of a cluster whose links all do at a time.
func TestBooksSeeOffload(t *testing.T) {
	c := newCluster(clustertest.Config{Veth: true}, 1, 1)
	n := c.Nodes[0]
	var links []*vppwire.LinuxLink
	for _, netns := range []string{"", n.Pods[0].Netns} {
		for i := range n.Linux.Spaces[netns].Links {
			if l := &n.Linux.Spaces[netns].Links[i]; l.Type == "veth" {
				l.OffloadOff = true
				links = append(links, l)
			}
		}
	}
	judge := func(told bool) error {
		s := c.Snapshot()
		s.Nodes[0].NoOffload = told
		_, err := checkBooks(s)
		return err
	}
	freeze(c)
	if err := judge(true); err != nil || len(links) != 4 {
		t.Fatalf("%d links: %v", len(links), err)
	}
	for _, l := range links {
		l.OffloadOff = false
		err := judge(true)
		if seen := err != nil && strings.Contains(err.Error(), "link "+l.Name+" "); seen == (l.Name == vppwire.HostVPPDevice) {
			t.Errorf("%s: %v", l.Name, err)
		}
		if err := judge(false); err != nil {
			t.Errorf("%s, and nothing says that it has to: %v", l.Name, err)
		}
		l.OffloadOff = true
	}
}

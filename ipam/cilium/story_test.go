package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// storyNode is one node with its agent, the operator and the cloud, played step by step.
type storyNode struct {
	now   time.Time
	api   *CiliumNode
	agent *NodeStore
	oper  *Operator
	cloud AllocationMap
	queue []Action
	fails string // what the cloud answers next
	out   strings.Builder
}

// Goal: the release of excess addresses reads as the protocol is meant. Method: stories; each command prints what the
// two sides want and what the resource says after it.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories/handshake", func(t *testing.T, path string) {
		var n *storyNode
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "node" {
				n = newStoryNode(t, d)
			}
			n.out.Reset()
			if err := n.play(t, d); err != nil {
				fmt.Fprintf(&n.out, "error: %v\n", err)
			}
			n.state()
			return n.out.String()
		})
	})
}

func newStoryNode(t *testing.T, d *datadriven.TestData) *storyNode {
	n := &storyNode{now: epoch, cloud: make(AllocationMap), api: &CiliumNode{Metadata: ObjectMeta{Name: "n1"}}}
	var addresses, delay int
	w := &n.api.Spec.IPAM.Watermarks
	for name, into := range map[string]*int{
		"addresses": &addresses, "delay": &delay, "pre": &w.PreAllocate, "min": &w.MinAllocate, "max": &w.MaxAllocate, "above": &w.MaxAboveWatermark,
	} {
		d.MaybeScanArgs(t, name, into)
	}
	for i := range addresses {
		n.cloud[storyAddr(i+1)] = AllocationIP{Resource: fmt.Sprint("eni-", i%2)}
	}
	var err error
	if n.oper, err = NewOperator(OperatorConfig{ReleaseExcessIPs: true, ReleaseDelay: time.Duration(delay) * time.Second}); err != nil {
		t.Fatal(err)
	}
	if n.agent, err = NewNodeStore(StoreConfig{Name: "n1", Pick: nth(0), RefreshInterval: 1}); err != nil {
		t.Fatal(err)
	}
	n.agent.FinishRestore()
	return n
}

func storyAddr(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) }

func (n *storyNode) play(t *testing.T, d *datadriven.TestData) error {
	switch d.Cmd {
	case "node":
		n.stored(n.api)
		n.queue = append(n.queue, n.oper.Listed(n.now, "n1", n.cloud)...)
		return n.operator()
	case "resync":
		var after int
		d.ScanArgs(t, "after", &after)
		n.now = n.now.Add(time.Duration(after) * time.Second)
		n.queue = append(n.queue, n.oper.Resync(n.now)...)
		return n.operator()
	case "cloud-fails":
		d.ScanArgs(t, "with", &n.fails)
		return nil
	case "pod":
		var i int
		if d.ScanArgs(t, "addr", &i); d.HasArg("gone") {
			return n.agent.release(storyAddr(i))
		}
		_, err := n.agent.allocate(storyAddr(i), "pod")
		return err
	case "agent":
		n.now = n.now.Add(time.Second)
		answers := n.agent.Answers()
		for _, ip := range sortedAddrs(answers) {
			fmt.Fprintf(&n.out, "agent: %s %s\n", ip, orDone(answers[ip]))
		}
		if c, ok := n.agent.Publish(n.now); ok {
			n.stored(c)
		}
		return n.operator()
	}
	return fmt.Errorf("no command %s", d.Cmd)
}

func orDone(s HandshakeState) string {
	if s == "" {
		return "done"
	}
	return string(s)
}

func (n *storyNode) stored(c *CiliumNode) {
	n.api = c.Clone()
	actions, err := n.oper.Update(n.now, n.api)
	n.queue = append(n.queue, actions...)
	if err := errors.Join(err, n.agent.Update(n.api)); err != nil {
		fmt.Fprintf(&n.out, "error: %v\n", err)
	}
}

// operator carries out what the operator wants; the agent answers only when told.
func (n *storyNode) operator() error {
	for calls := 0; len(n.queue) > 0; calls++ {
		if calls > 100 {
			return errors.New("the operator never has enough")
		}
		a := n.queue[0]
		n.queue = n.queue[1:]
		fmt.Fprintf(&n.out, "operator: %s\n", a)
		var err error
		if n.fails != "" && a.Kind != ActWrite {
			err, n.fails = errors.New(n.fails), ""
		}
		switch a.Kind {
		case ActAllocate:
			given := make(AllocationMap)
			for i := 1; err == nil && len(given) < a.Count; i++ {
				if _, there := n.cloud[storyAddr(i)]; !there {
					given[storyAddr(i)] = AllocationIP{Resource: "eni-0"}
					n.cloud[storyAddr(i)] = AllocationIP{Resource: "eni-0"}
				}
			}
			n.queue = append(n.queue, n.oper.Allocated(n.now, "n1", given, err)...)
		case ActFree:
			if err == nil {
				delete(n.cloud, a.IP)
			}
			n.queue = append(n.queue, n.oper.Freed(n.now, "n1", a.IP, err)...)
		case ActWrite:
			n.stored(a.Resource)
		}
	}
	return nil
}

func (n *storyNode) state() {
	s, _ := n.oper.Get("n1")
	fmt.Fprintf(&n.out, "-> %d available, %d used, %d leaving", s.Available, s.Used, s.Leaving)
	for _, ip := range sortedAddrs(n.api.Status.IPAM.ReleaseIPs) {
		fmt.Fprintf(&n.out, ", %s %s", ip, n.api.Status.IPAM.ReleaseIPs[ip])
	}
	n.out.WriteByte('\n')
}

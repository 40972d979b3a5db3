package lab_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/interface_types"

	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: policies-kept can be broken on a real VPP, for the tables, for real connections, and for sessions that were allowed. Method: a lab
// at rest whose pods are closed. VPP loses the ACLs of an open pod behind its agent's back, then those that it gets drop everything, and
// at last it has its own again, by which it forgets its sessions.
func TestPlantedOnPolicies(t *testing.T) {
	const law = "policies-kept"
	w, ctx := standing(t, `# Pods take nothing from each other, and reach another one.
name: planted-policies
topology: {nodes: 1, podsPerNode: 2}
config: {wiring: {pod: veth, host: veth, policies: vpp}}
policies:
  - {name: closed, pods: [app=per-node]}
`)
	if err := errors.Join(w.Do(ctx, scenarios.CreatePods{App: "friend", Count: 1}), w.Settle(ctx, time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n, err := judgeNow(ctx, t, w, law); err != nil || n == 0 {
		t.Fatalf("before: %d occasions, %v", n, err)
	}
	c, err := vppproc.Dial(w.VPPDirOf("node-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The ACLs of every pod, by interface: what it sends, and what it gets.
	lists := map[interface_types.InterfaceIndex][]uint32{}
	stream, err := c.NewStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stream.SendMsg(&acl.ACLInterfaceListDump{SwIfIndex: ^interface_types.InterfaceIndex(0)}), stream.SendMsg(&acl.ACLPluginControlPing{})); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := stream.RecvMsg()
		if err != nil {
			t.Fatal(err)
		}
		d, is := m.(*acl.ACLInterfaceListDetails)
		if !is {
			break
		}
		if len(d.Acls) == 2 {
			lists[d.SwIfIndex] = d.Acls
		}
	}
	if len(lists) < 2 {
		t.Fatalf("%d pods have ACLs", len(lists))
	}
	set := func(of func(i interface_types.InterfaceIndex) []uint32) {
		for i := range lists {
			acls := of(i)
			m := &acl.ACLInterfaceSetACLList{SwIfIndex: i, Count: uint8(len(acls)), NInput: uint8(min(1, len(acls))), Acls: acls}
			var r acl.ACLInterfaceSetACLListReply
			if err := c.Invoke(ctx, m, &r); err != nil || r.Retval != 0 {
				t.Fatal(err, r.Retval)
			}
		}
	}
	broken := func(what, want string, judge func() error) {
		t.Helper()
		var v *fact.Violation
		if err := judge(); !errors.As(err, &v) || v.Law != law || !strings.Contains(v.What, want) {
			t.Errorf("%s: nobody sees it: %v", what, err)
		} else {
			t.Log(v.What)
		}
	}
	tables := func() error { _, err := judgeNow(ctx, t, w, law); return err }
	packets := func() error { return w.Settle(ctx, time.Hour) }
	set(func(interface_types.InterfaceIndex) []uint32 { return nil })
	broken("tables of open pods", "it arrives", tables)
	broken("packets to open pods", "a real packet arrives", packets)
	set(func(i interface_types.InterfaceIndex) []uint32 { // a pod sends by what another one gets
		for k, other := range lists {
			if k != i {
				return []uint32{other[1], lists[i][1]}
			}
		}
		return nil
	})
	broken("tables of pods that may send nothing", "an ACL drops it", tables)
	set(func(i interface_types.InterfaceIndex) []uint32 { return lists[i] })
	if err := tables(); err != nil {
		t.Errorf("the ACLs are what they were: %v", err)
	}
	broken("sessions that VPP has forgotten", "it is cut", packets)
}

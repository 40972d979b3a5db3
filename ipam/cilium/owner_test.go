package cilium

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// ledgerOwner writes down what an Owner is told.
type ledgerOwner struct{ told []string }

func (o *ledgerOwner) K8sEventReceived(scope, action string, valid, equal bool) {
	o.told = append(o.told, fmt.Sprintf("%s %s valid=%t equal=%t", scope, action, valid, equal))
}

func (o *ledgerOwner) K8sEventProcessed(scope, action string, status bool) {
	o.told = append(o.told, fmt.Sprintf("%s %s done=%t", scope, action, status))
}

func (o *ledgerOwner) UpdateCiliumNodeResource() { o.told = append(o.told, "write resource") }

// The resource is asked for before anything is allocated, and each of its events is counted once; a deleted resource
// stops allocation and takes no lease.
func TestOwnerCountsEvents(t *testing.T) {
	store, err := NewNodeStore(StoreConfig{Name: "n", Pick: new(scatter)})
	if err != nil {
		t.Fatal(err)
	}
	o := new(ledgerOwner)
	i, err := NewIPAM(nil, Configuration{IPAM: ModeCRD, EnableIPv4: true, Pick: new(scatter), Store: store}, o)
	if err != nil {
		t.Fatal(err)
	}
	n := &CiliumNode{Metadata: ObjectMeta{Name: "n"}}
	ip := netip.MustParseAddr("10.0.0.1")
	n.Spec.IPAM.Pool = AllocationMap{ip: {}, ip.Next(): {}}
	bad := n.Clone()
	bad.Spec.IPAM.PreAllocate = -1
	for _, step := range []struct {
		n    *CiliumNode
		fail bool
	}{{n, false}, {n, false}, {bad, true}, {&CiliumNode{Metadata: ObjectMeta{Name: "other"}}, true}} {
		if err := store.Update(step.n); (err != nil) != step.fail {
			t.Fatal(err)
		}
	}
	store.FinishRestore()
	if err := i.AllocateIP(ip, "pod"); err != nil {
		t.Fatal(err)
	}
	if _, ok := store.Publish(epoch); !ok {
		t.Error("the first use is not published")
	}
	store.Delete()
	if _, err := i.AllocateNextFamily(IPv4, "late"); err != ErrNodeUnknown { //nolint:errorlint // it comes as it is
		t.Errorf("without a resource: %v", err)
	}
	if err := store.Update(n); err != nil {
		t.Fatal(err)
	}
	if p, ok := store.Publish(epoch.Add(time.Minute)); !ok || p.Status.IPAM.Used[ip].Owner != "pod" {
		t.Errorf("the new resource says %v", p)
	}
	want := `write resource
CiliumNode create valid=true equal=false
CiliumNode create done=true
CiliumNode update valid=true equal=true
CiliumNode update done=true
CiliumNode update valid=false equal=false
CiliumNode update valid=false equal=false
CiliumNode delete valid=true equal=false
CiliumNode delete done=true
CiliumNode create valid=true equal=false
CiliumNode create done=true`
	if have := strings.Join(o.told, "\n"); have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

package faults

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
)

func lease(n int) []agent.Record {
	return []agent.Record{{Kind: agent.RecordIPAM, IPAM: ipam.Record{Op: ipam.OpLease, Owner: ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c%d", n), IfName: "eth0"},
		Addr: netip.AddrFrom4([4]byte{10, 1, 1, byte(n)}), Prefix: netip.MustParsePrefix("10.1.1.0/24")}}}
}

// Goal: what was told to be durable is there after a power loss, and of what was not told any end may be gone; a write that the
// disk refuses is told so. Method: a disk that refuses one write and tells of another late, and power that is lost meanwhile, with
// every number of bytes lost.
func TestJournal(t *testing.T) {
	whole, cut := 0, 0
	for lost := 0; ; lost++ {
		_, _, ports := table(t, scenarios.Faults{Inject: []string{"(Nth 2 (Kind persist (Refuse 0)))", "(Nth 4 (Kind persist (Delay 1000h)))"}}, 1, "node-1")
		path := filepath.Join(t.TempDir(), "journal")
		j, _, err := ports[0].OpenJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		persist := func(e agent.Persist) error {
			told := make(chan error, 1)
			j.Persist(e, func(err error) { told <- err })
			return <-told
		}
		if err := persist(agent.Persist{Seq: 1, Records: lease(1)}); err != nil {
			t.Fatal(err)
		}
		if err := persist(agent.Persist{Seq: 2, Records: lease(2)}); !errors.Is(err, unix.EIO) {
			t.Errorf("a refused write: %v", err)
		}
		if err := persist(agent.Persist{Seq: 3, GivenUp: 2, Replace: true, Records: append(lease(1), lease(3)...)}); err != nil {
			t.Errorf("a write of one who knows: %v", err)
		}
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		j.Persist(agent.Persist{Seq: 4, GivenUp: 2, Records: lease(4)}, func(error) { t.Error("a late write was told of") })
		if err := j.Close(); err != nil { // it finishes what it was asked for
			t.Fatal(err)
		}
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		most := int(after.Size() - before.Size())
		if err := LosePower(path, func(_ string, n int) int {
			if n != most+1 {
				t.Errorf("%d bytes may be lost, want %d", n-1, most)
			}
			return lost
		}); err != nil {
			t.Fatal(err)
		}
		next, found, err := journal.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		switch len(found) {
		case 3:
			whole++
		case 2:
			cut++
		default:
			t.Errorf("%d bytes lost: found %v", lost, found)
		}
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
		if lost == most {
			break
		}
	}
	if whole != 1 || cut < 10 {
		t.Errorf("all was there %d times, all but the late write %d times", whole, cut)
	}
	if err := LosePower(filepath.Join(t.TempDir(), "none"), nil); err != nil {
		t.Errorf("a journal that no port has written: %v", err)
	}
}

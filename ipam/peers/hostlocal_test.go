package peers

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/allocator"
	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/disk"
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/space"
)

const hostLocalModule = "github.com/containernetworking/plugins"

// hostLocal is the CNI plugin's own allocator over its own files.
type hostLocal struct {
	*allocator.IPAllocator
	store *disk.Store
}

// newHostLocal opens the folder as one more plugin process would: with a lock of its own. (Those are flock locks, which
// only exclude each other between files opened separately.)
func newHostLocal(dir string, subnet *net.IPNet) (hostLocal, error) {
	store, err := disk.New("pods", dir)
	if err != nil {
		return hostLocal{}, err
	}
	set := allocator.RangeSet{{Subnet: types.IPNet(*subnet)}}
	if err := set.Canonicalize(); err != nil {
		return hostLocal{}, err
	}
	return hostLocal{allocator.NewIPAllocator(&set, store, 0), store}, nil
}

// hold reserves so many addresses behind the gateway, without the walk through all files that Get begins with.
func (h hostLocal) hold(n int) error {
	for i := range n {
		ok, err := h.store.Reserve(containerID(i), "eth0", nth(2+i).AsSlice(), "0")
		if err != nil || !ok {
			return fmt.Errorf("reserve address %d: %v, %w", i, ok, err)
		}
	}
	return nil
}

// pair is one ADD and one DEL.
func (h hostLocal) pair(id int) error {
	if _, err := h.Get(containerID(id), "eth0", nil); err != nil {
		return err
	}
	return h.Release(containerID(id), "eth0")
}

// host-local: behind the gateway in order, the broadcast address left out. Ours keeps the NAT loopback (last but one)
// too, because VPP needs it, and nothing else.
func TestAgreeHostLocal(t *testing.T) {
	for _, text := range [...]string{"10.1.0.0/26", "10.1.0.0/28", "10.1.0.0/29"} {
		t.Run(text, func(t *testing.T) {
			p := netip.MustParsePrefix(text)
			peer, err := newHostLocal(t.TempDir(), ipNet(p))
			if err != nil {
				t.Fatal(err)
			}
			defer peer.store.Close() //nolint:errcheck // a lock file that nobody else uses
			ours, err := contiv.New(contiv.Config{})
			if err == nil {
				_, err = ours.SetBlocks(epoch, []netip.Prefix{p})
			}
			if err != nil {
				t.Fatal(err)
			}
			a := drain(t, "ours", podTaker(
				func(n int) (string, error) {
					l, _, err := ours.Allocate(epoch, owner(n), ipam.Want{})
					return textOf(l.Addr, err)
				},
				func(n int) (string, error) {
					r := ours.Release(epoch, owner(n))
					if len(r) != 1 {
						return "", fmt.Errorf("%d records", len(r))
					}
					return r[0].Addr.String(), nil
				},
				is(ipam.ErrExhausted)))
			pods, holder := 0, map[string]int{}
			b := drain(t, "host-local", taker{
				func() (string, error) {
					c, err := peer.Get(containerID(pods), "eth0", nil)
					if err != nil {
						return "", err
					}
					if _, err := peer.Get(containerID(pods), "eth0", nil); err == nil {
						return "", errors.New("a second address for one pod")
					}
					holder[c.Address.IP.String()] = pods
					pods++
					return c.Address.IP.String(), nil
				},
				func(a string) error { return peer.Release(containerID(holder[a]), "eth0") },
				func(err error) bool {
					return err.Error() == "no IP addresses available in range set: "+hostLocalRange(p)
				},
			})
			loopback, err := space.NthLast(p, 1)
			if err != nil {
				t.Fatal(err)
			}
			if b[len(b)-1] != loopback.String() {
				t.Fatalf("host-local gave %s last, not %s", b[len(b)-1], loopback)
			}
			if b = b[:len(b)-1]; fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("ours gave\n%v\nhost-local but for its last\n%v", a, b)
			}
		})
	}
}

// hostLocalRange is how host-local names a range in its errors: what it gives, the gateway included.
func hostLocalRange(p netip.Prefix) string {
	last, _ := space.NthLast(p, 1)
	return p.Addr().Next().String() + "-" + last.String()
}

package datastore_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// The pool has upstream's lookups, agrees with the store, and is a copy.
func TestENIPool(t *testing.T) {
	ds := datastore.NewDataStore(nil, datastore.NullCheckpoint{}, func() time.Time { return time.Unix(1700000000, 0) })
	for device, id := range []string{"eni-0", "eni-1"} {
		if err := ds.AddENI(id, device, device == 0, false); err != nil {
			t.Fatal(err)
		}
		if err := ds.AddIPv4AddressToStore(id, netip.AddrFrom4([4]byte{10, 0, byte(device), 1})); err != nil {
			t.Fatal(err)
		}
	}
	key := func(pod string) datastore.IPAMKey {
		return datastore.IPAMKey{NetworkName: "n", ContainerID: pod, IfName: "eth0"}
	}
	for _, pod := range []string{"a", "b"} {
		if _, _, err := ds.AssignPodIPv4Address(key(pod)); err != nil {
			t.Fatal(err)
		}
	}
	p := ds.ENIPool()
	if n := p.AssignedIPv4Addresses(); n != 2 || p["eni-1"].AssignedIPv4Addresses() != 1 {
		t.Errorf("%d addresses are assigned, %d of them of eni-1", n, p["eni-1"].AssignedIPv4Addresses())
	}
	for _, pod := range []string{"a", "b"} {
		want, _ := ds.Lookup(key(pod))
		if e, a := p.FindAddressForSandbox(key(pod)); e == nil || a.Address != want.IP || e.DeviceNumber != want.DeviceNumber {
			t.Errorf("%s: %v %v, want %v", pod, e, a, want)
		}
	}
	for _, nobody := range []datastore.IPAMKey{key("c"), {}} {
		if e, a := p.FindAddressForSandbox(nobody); e != nil || a != nil {
			t.Errorf("%v: %v %v", nobody, e, a)
		}
	}
	if _, _, err := ds.UnassignPodIPv4Address(key("a")); err != nil {
		t.Fatal(err)
	}
	if now := ds.ENIPool(); p.AssignedIPv4Addresses() != 2 || now.AssignedIPv4Addresses() != 1 {
		t.Errorf("the copy has %d, the store %d", p.AssignedIPv4Addresses(), now.AssignedIPv4Addresses())
	}
}

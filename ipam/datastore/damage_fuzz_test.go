package datastore

import (
	"encoding/json"
	"errors"
	"maps"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

// Goal: a damaged checkpoint costs no live pod its address. It is either refused as a whole, and then nothing is
// assigned or written until a good one is read; or what can be read is held, and what cannot is out of use. Method: a
// good checkpoint in which some bytes are replaced, read by a store with the same ENIs.
func FuzzDamagedCheckpoint(f *testing.F) {
	f.Add(uint16(0), uint16(0), "")
	f.Add(uint16(3), uint16(4), "x")
	f.Add(uint16(60), uint16(40), "")
	f.Add(uint16(200), uint16(2), `{}`)
	f.Add(uint16(400), uint16(500), "")
	f.Add(uint16(500), uint16(0), `,"allocations":[]`)
	f.Fuzz(func(t *testing.T, at, cut uint16, junk string) {
		b, good, live := liveBench(t)
		from := int(at) % (len(good) + 1)
		text := good[:from] + junk + good[min(from+int(cut), len(good)):]
		b.file.Data = json.RawMessage(text)
		ds, err := b.restarted()
		if err != nil && !errors.Is(err, ErrQuarantined) {
			refusedWhole(t, b, ds, text, good, live, err)
			return
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatalf("error %q", err)
		}
		d := mustParse(t, text)
		holder := make(map[netip.Addr]IPAMKey)
		claimed := make(map[IPAMKey]bool)
		orphans := make(map[IPAMKey]netip.Addr)
		for _, o := range ds.Orphans() {
			orphans[o.IPAMKey] = o.IP
		}
		for _, e := range d.Allocations {
			_, other := holder[e.IPv4]
			if other || claimed[e.IPAMKey] {
				continue // the first claim holds
			}
			holder[e.IPv4], claimed[e.IPAMKey] = e.IPAMKey, true
			if p, held := ds.Lookup(e.IPAMKey); held && p.IP != e.IPv4 || !held && orphans[e.IPAMKey] != e.IPv4 {
				t.Fatalf("%s of %s is lost: %+v", e.IPv4, e.IPAMKey, p)
			}
		}
		aside := make(map[netip.Addr]bool)
		for _, q := range ds.Quarantined() {
			aside[q.Addr] = true
		}
		for n := range 20 {
			given, _, err := ds.AssignPodIPv4Address(key(50 + n))
			if err != nil {
				continue
			}
			if other, twice := holder[given]; twice && other != key(50+n) || aside[given] {
				t.Fatalf("%s of %s is given away, set aside: %v", given, other, aside[given])
			}
		}
	})
}

// liveBench is a store with five pods and a cooling address, its checkpoint's text, and who holds what.
func liveBench(t *testing.T) (*bench, string, map[IPAMKey]netip.Addr) {
	b := newBench(2)
	b.must(t, b.ds.ReadBackingStore(), b.ds.AddENI("eni-0", 0, true, false), b.ds.AddIPv4CidrToStore("eni-0", prefix("10.0.0.16/28")))
	live := make(map[IPAMKey]netip.Addr)
	for n := range 6 {
		ip, _, err := b.ds.AssignPodIPv4Address(key(n))
		b.must(t, err)
		live[key(n)] = ip
	}
	_, _, err := b.ds.UnassignPodIPv4Address(key(5))
	b.must(t, err)
	delete(live, key(5))
	text, err := json.Marshal(b.file.Data)
	b.must(t, err)
	return b, string(text), live
}

// refusedWhole checks that a store without a checkpoint waits for one.
func refusedWhole(t *testing.T, b *bench, ds *DataStore, text, good string, live map[IPAMKey]netip.Addr, err error) {
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Fatalf("error %q", err)
	}
	if ip, _, err := ds.AssignPodIPv4Address(key(50)); err == nil {
		t.Fatalf("%s is assigned without a checkpoint", ip)
	}
	if _, _, err := ds.UnassignPodIPv4Address(key(0)); err == nil {
		t.Fatal("a pod is released without a checkpoint")
	}
	if have, ok := b.file.Data.(json.RawMessage); !ok || string(have) != text {
		t.Fatalf("the damaged file became %v", b.file.Data)
	}
	b.file.Data = json.RawMessage(good)
	if err := ds.ReadBackingStore(); err != nil {
		t.Fatalf("the repaired file: %v", err)
	}
	have := make(map[IPAMKey]netip.Addr)
	for _, p := range ds.AllocatedIPs() {
		have[p.IPAMKey] = p.IP
	}
	if !maps.Equal(have, live) {
		t.Fatalf("the repaired file gives %v, want %v", have, live)
	}
}

// Targets are read from whatever the environment says, and whatever they are, the node does not want more and less at
// once.
func FuzzParseTargets(f *testing.F) {
	f.Add("5", "10", "1", "1", uint8(14), uint8(3), false)
	f.Add("-1", "x", "", "9223372036854775807", uint8(1), uint8(1), true)
	f.Fuzz(func(t *testing.T, warmIP, minimumIP, warmENI, warmPrefix string, units, used uint8, prefixes bool) {
		environment := map[string]string{
			"WARM_IP_TARGET": warmIP, "MINIMUM_IP_TARGET": minimumIP, "WARM_ENI_TARGET": warmENI, "WARM_PREFIX_TARGET": warmPrefix,
		}
		getenv := func(name string) string { return environment[name] }
		targets := ParseTargets(getenv)
		if !reflect.DeepEqual(targets, ParseTargets(getenv)) || min(targets.WarmIP, targets.MinimumIP, targets.WarmENI, targets.WarmPrefix) < 0 {
			t.Fatalf("%+v", targets)
		}
		limit := int(units%8) + 1
		z := Sizing{Targets: targets, ENIsMax: limit, UnitsPerENI: int(units) + 1, PrefixDelegation: prefixes}
		total := z.IPsPerENI()
		s := Stats{TotalIPs: total, AssignedIPs: min(int(used), total)}
		if z.TooLow(s) && z.TooHigh(s) {
			t.Fatalf("%+v wants more and less than %+v", z, s)
		}
	})
}

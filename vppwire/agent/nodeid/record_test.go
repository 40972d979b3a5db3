package nodeid

import (
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// TestRecordText: records read back as written, by the fast reader; JSON of other writers reads by the general one.
func TestRecordText(t *testing.T) {
	p := netip.MustParsePrefix
	for _, n := range []Record{
		{ID: 1},
		{ID: 5, Name: "n5", UID: "u", Address: p("192.168.16.5/24"), Management: []netip.Addr{netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("fd00::5")},
			PodNetworks: []netip.Prefix{p("10.1.5.0/24"), p("10.2.5.0/24")}, HostNetwork: p("172.30.5.0/24"), VXLAN: netip.MustParseAddr("192.168.30.5"),
			ReleasedAt: time.Unix(1, 2).UTC()},
		{ID: 6, Name: "n6", UID: "u", Address: p("192.168.16.6/24"), PodNetworks: []netip.Prefix{p("10.1.6.0/24"), p("fd00:1:0:6::/64")},
			HostNetwork: p("172.30.6.0/24"), VXLAN: netip.MustParseAddr("192.168.30.6"), SecondAddress: p("fd00:16::6/64"),
			SecondHostNetwork: p("fd00:30::600/120"), SecondVXLAN: netip.MustParseAddr("fd00:18::6")},
		{ID: 1<<32 - 1, Name: "quote \" and ü", UID: "<&>"},
	} {
		back, err := ParseRecord(n.String())
		if err != nil || !reflect.DeepEqual(back, n) {
			t.Errorf("%s reads back as %+v, %v", n, back, err)
		}
		var w recordWire
		if plain := n.UID != "<&>"; w.scan(n.String()) != plain {
			t.Errorf("%s: fast reader %t", n, !plain)
		}
	}
	n, err := ParseRecord(`{ "name": "x", "extra": {"a": [1]}, "id": 7, "management_ip_address": "10.0.0.1, 10.0.0.2" }`)
	if err != nil || n.ID != 7 || n.Name != "x" || len(n.Management) != 2 {
		t.Errorf("foreign JSON reads as %+v, %v", n, err)
	}
	for _, text := range []string{``, `nonsense`, `{"ip_address":"x"}`, `{"pod_networks":["10.1.0.0"]}`, `{"id":-1}`, `{"vxlan":"fe80::1%e"}`,
		`{"released_at":"yesterday"}`, `{"management_ip_address":"a"}`, `{"host_network":"1"}`, `{"second_ip_address":"x"}`, `{"second_host_network":"1"}`, `{"second_vxlan":"fe80::1%e"}`} {
		if n, err := ParseRecord(text); err == nil {
			t.Errorf("%q reads as %+v", text, n)
		}
	}
	for key, want := range map[string]uint32{"allocatedIDs/1": 1, "allocatedIDs/4294967295": 1<<32 - 1} {
		if id, ok := parseKey(key); !ok || id != want || recordKey(id) != key {
			t.Errorf("key %q is %d, %t", key, id, ok)
		}
	}
	for _, key := range []string{"allocatedIDs/", "allocatedIDs/0", "allocatedIDs/01", "allocatedIDs/+1", "allocatedIDs/x", "other/1", "allocatedIDs/4294967296"} {
		if id, ok := parseKey(key); ok {
			t.Errorf("key %q is %d", key, id)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add(`{"id":5,"name":"n5","uid":"u","ip_address":"192.168.16.5/24","management_ip_address":"10.0.0.5","pod_networks":["10.1.5.0/24"],"host_network":"172.30.5.0/24","vxlan":"192.168.30.5","released_at":"1970-01-01T00:16:40Z"}`)
	f.Add(`{"id":5, "name":"\u00fc"}`)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseRecord(text)
		if err != nil {
			return
		}
		back, err := ParseRecord(n.String())
		if err != nil || !reflect.DeepEqual(back, n) {
			t.Errorf("%q became %q, which reads as %+v, %v", text, n, back, err)
		}
		// The two readers agree where both can read.
		var w recordWire
		if w.scan(text) {
			if fast, err := w.info(); err != nil || !reflect.DeepEqual(fast, n) {
				t.Errorf("%q: fast reader says %+v, %v", text, fast, err)
			}
		}
	})
}

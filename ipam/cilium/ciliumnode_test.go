package cilium

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

const fullNode = `{
  "apiVersion": "cilium.io/v2", "kind": "CiliumNode",
  "metadata": {"name": "n1", "uid": "u-1", "resourceVersion": "17", "labels": {"a": "b"}},
  "spec": {"ipam": {
    "pool": {"10.1.1.226": {"resource": "eni-1"}, "::ffff:10.1.1.9": {"resource": "eni-1"}, "fd00::1": {}},
    "pools": {"requested": [{"pool": "default", "needed": {"ipv4-addrs": 16}}], "allocated": [{"pool": "default", "cidrs": ["10.9.0.1/24"]}]},
    "podCIDRs": ["10.0.0.0/24", "fd00::/120"],
    "min-allocate": 8, "max-allocate": 20, "pre-allocate": 4, "max-above-watermark": 2}},
  "status": {"ipam": {"used": {"10.1.1.226": {"owner": "default/web", "resource": "eni-1"}},
      "release-ips": {"10.1.1.9": "marked-for-release"}, "operator-status": {"error": "throttled"}},
    "eni": {"enis": {"eni-1": {"id": "eni-1", "ip": "10.1.1.1", "mac": "02:00:00:00:00:01",
      "subnet": {"id": "s-1", "cidr": "10.1.1.0/24"},
      "vpc": {"id": "v-1", "primary-cidr": "10.1.0.0/16", "cidrs": ["10.1.0.0/16", "10.2.0.0/16"]},
      "addresses": ["10.1.1.226", "10.1.1.9"]}}}}
}`

// The keys are the resource's own; every one is read and written.
func TestCiliumNodeKeys(t *testing.T) {
	n, err := ParseCiliumNode([]byte(fullNode))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"name":"n1","uid":"u-1","resourceVersion":"17"},"spec":{"ipam":{"pool":{"10.1.1.226":{"resource":"eni-1"},` +
		`"10.1.1.9":{"resource":"eni-1"},"fd00::1":{}},"pools":{"requested":[{"pool":"default","needed":{"ipv4-addrs":16}}],` +
		`"allocated":[{"pool":"default","cidrs":["10.9.0.0/24"]}]},"podCIDRs":["10.0.0.0/24","fd00::/120"],"min-allocate":8,` +
		`"max-allocate":20,"pre-allocate":4,"max-above-watermark":2}},"status":{"ipam":{"used":{"10.1.1.226":{"owner":"default/web",` +
		`"resource":"eni-1"}},"release-ips":{"10.1.1.9":"marked-for-release"},"operator-status":{"error":"throttled"}},` +
		`"eni":{"enis":{"eni-1":{"id":"eni-1","ip":"10.1.1.1","mac":"02:00:00:00:00:01","subnet":{"id":"s-1","cidr":"10.1.1.0/24"},` +
		`"vpc":{"id":"v-1","primary-cidr":"10.1.0.0/16","cidrs":["10.1.0.0/16","10.2.0.0/16"]},"addresses":["10.1.1.226","10.1.1.9"]}}}}}`
	if have := n.String(); have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
	if n.Metadata.Incarnation() != "n1/u-1" {
		t.Error(n.Metadata.Incarnation())
	}
	// A clone shares nothing that can be changed in place.
	c := n.Clone()
	c.Spec.IPAM.Pool[netip.MustParseAddr("10.0.0.1")] = AllocationIP{}
	c.Spec.IPAM.Pools.Allocated[0].CIDRs[0] = netip.Prefix{}
	c.Spec.IPAM.Pools.Requested[0].Pool = "x"
	c.Status.IPAM.Used[netip.MustParseAddr("10.0.0.1")] = AllocationIP{}
	c.Status.IPAM.ReleaseIPs[netip.MustParseAddr("10.0.0.1")] = Released
	c.Status.ENI.ENIs["eni-1"].Addresses[0] = netip.Addr{}
	c.Status.ENI.ENIs["eni-1"].VPC.CIDRs[0] = netip.Prefix{}
	delete(c.Status.ENI.ENIs, "eni-1")
	if have := n.String(); have != want {
		t.Errorf("the clone changed its original: %s", have)
	}
}

func TestCiliumNodeRefusals(t *testing.T) {
	for text, why := range map[string]string{
		``:                                                    "EOF",
		`{}`:                                                  "no name",
		`{"metadata":{"name":"n"}} x`:                         "something follows",
		`{"metadata":{"name":"n"}}{}`:                         "something follows",
		`{"metadata":{"name":7}}`:                             "cannot unmarshal",
		`{"metadata":{"name":"n"},"spec":[]}`:                 "cannot unmarshal",
		inSpec(`"pool":{"10.0.0.300":{}}`):                    "IPv4 field has value >255",
		inSpec(`"pool":{"":{}}`):                              "not valid or there twice",
		inSpec(`"pre-allocate":-1`):                           "not in 0..",
		inSpec(`"podCIDRs":[""]`):                             "CIDR is empty",
		inSpec(`"pools":{"requested":[{}]}`):                  "from pool",
		inSpec(`"pools":{"allocated":[{}]}`):                  "names no pool",
		inStatus(`"release-ips":{"::1":"soon"}`):              "is not known",
		inSpec(`"pool":{"10.0.0.1":{},"::ffff:10.0.0.1":{}}`): "not valid or there twice",
	} {
		if _, err := ParseCiliumNode([]byte(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
}

func inSpec(text string) string {
	return `{"metadata":{"name":"n"},"spec":{"ipam":{` + text + `}}}`
}

func inStatus(text string) string {
	return `{"metadata":{"name":"n"},"status":{"ipam":{` + text + `}}}`
}

func FuzzParseCiliumNode(f *testing.F) {
	f.Add(fullNode)
	f.Add(inSpec(`"pool":{"fe80::1%eth0":{}}`))
	f.Add(inStatus(`"used":{"10.0.0.1":{"owner":"\u0000"}}`))
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseCiliumNode([]byte(text))
		if err != nil {
			return
		}
		again, err := ParseCiliumNode([]byte(n.String()))
		if err != nil || !reflect.DeepEqual(again, n) {
			t.Fatalf("%s\nbecame\n%s\n%v", n, again, err)
		}
		// Whatever parses can be used: nothing panics, and the node is served or refused.
		s, err := NewNodeStore(StoreConfig{Name: n.Metadata.Name, ENI: true, Pick: new(scatter)})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Update(n); err != nil {
			t.Fatal(err)
		}
		s.FinishRestore()
		_, _ = s.Allocator(IPv4).AllocateNext("x")
		s.Publish(epoch)
		_ = ValidateENIConfig(n)
		o, err := NewOperator(OperatorConfig{ReleaseExcessIPs: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Update(epoch, n); err != nil {
			t.Fatal(err)
		}
		o.Listed(epoch, n.Metadata.Name, n.Spec.IPAM.Pool)
		o.Resync(epoch.Add(time.Hour))
	})
}

func FuzzParseClaim(f *testing.F) {
	f.Add("7 claim default/ipv4 node-3 10.0.4.0/24 1700000000000000000")
	f.Add("8 return ipv6 node-3/uid fd00::/120 -1")
	f.Add("9 claim ipv4 n ::ffff:10.0.0.0/120 0")
	f.Fuzz(func(t *testing.T, line string) {
		c, err := ParseClaim(line)
		if err != nil {
			return
		}
		if again, err := ParseClaim(c.String()); err != nil || again != c {
			t.Fatalf("%q is %+v and then %+v %v", line, c, again, err)
		}
		p, err := NewClusterPool(ClusterPoolConfig{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		if err != nil {
			t.Fatal(err)
		}
		_ = p.Apply(c)
	})
}

// Goal: what keeps a node's interfaces from being used is told, and nothing else. Method: a table; a VPC with one range
// is the usual one.
func TestValidateENIConfig(t *testing.T) {
	one, none := netip.MustParsePrefix("10.1.0.0/16"), netip.Prefix{}
	for _, c := range [...]struct {
		vpc  ENIVPC
		want string
	}{
		{ENIVPC{PrimaryCIDR: one}, ""},
		{ENIVPC{PrimaryCIDR: one, CIDRs: []netip.Prefix{one}}, ""},
		{ENIVPC{PrimaryCIDR: one, CIDRs: []netip.Prefix{one, none}}, "VPC CIDR not set for ENI eni-1"},
		{ENIVPC{}, "VPC Primary CIDR not set for ENI eni-1"},
	} {
		n := &CiliumNode{}
		n.Status.ENI.ENIs = map[string]ENI{"eni-1": {ID: "eni-1", VPC: c.vpc}}
		got := ""
		if err := ValidateENIConfig(n); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.vpc, got, c.want)
		}
	}
}

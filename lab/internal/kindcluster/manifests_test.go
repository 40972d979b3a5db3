package kindcluster

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/vppdrill/vppdrill/fixtures/kubernetes"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// objects are what a manifest file holds.
func objects(t *testing.T, path string) (list []map[string]any) {
	t.Helper()
	text, err := fs.ReadFile(kubernetes.Files, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range strings.Split(string(text), "\n---\n") {
		o := map[string]any{}
		if err := yaml.UnmarshalStrict([]byte(one), &o); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list = append(list, o)
	}
	return list
}

// Goal: the settings and ranges that clusters start with, of each family, are some that agents take, and a tunnel's
// packets fit the wire. Method: the agent's own parsers over the manifests, and over the overlay of a cluster.
func TestSettingsAreTaken(t *testing.T) {
	for _, path := range []string{"base/config.yaml", "ipv6/settings.yaml", "ipv6/pools.yaml", "dual-stack/pools.yaml"} {
		for _, o := range objects(t, path) {
			data := o["data"].(map[string]any)
			if text, ok := data["contiv.yaml"].(string); ok {
				cfg, err := agent.ParseConfig("contiv.yaml", []byte(text))
				if err != nil || !cfg.ExternalByHost || path == "ipv6/settings.yaml" != (cfg.MTUSize == 1430) {
					t.Errorf("%+v, %v", cfg, err)
				}
			}
			if text, ok := data[kube.PoolsKey].(string); ok {
				pools, err := agent.ParsePools([]byte(text))
				if err != nil || !pools.External {
					t.Errorf("%+v, %v", pools, err)
				}
				if pools.VXLAN.Addr().Is4() && pools.VXLAN != tunnels {
					t.Errorf("%s: tunnels of %s, and wires leave %s alone", path, pools.VXLAN, tunnels)
				}
			}
		}
	}
	for _, c := range []struct {
		families           Families
		components, ranges string
	}{
		{nil, "[]", "10.244.0.0/16 192.168.17.0/24 invalid Prefix invalid Prefix"},
		{Families{v1.IPv6Protocol}, "[../../ipv6]", "fd00:10:244::/56 fd00:192:168:16::/120 invalid Prefix invalid Prefix"},
		{Families{v1.IPv4Protocol, v1.IPv6Protocol}, "[../../dual-stack]", "10.244.0.0/16 192.168.17.0/24 fd00:10:244::/56 fd00:192:168:16::/120"},
		{Families{v1.IPv6Protocol, v1.IPv4Protocol}, "[../../dual-stack]", "fd00:10:244::/56 fd00:192:168:16::/120 10.244.0.0/16 192.168.17.0/24"},
	} {
		ranges, err := c.families.pools(netip.MustParsePrefix("192.168.17.0/24"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := (&maker{Options: Options{Families: c.families, VPPImage: "image"}, pools: ranges}).overlay("sha256:1")
		if err != nil {
			t.Fatal(err)
		}
		var k struct {
			Components []string
			Patches    []struct{ Patch string }
		}
		if err := yaml.Unmarshal([]byte(text), &k); err != nil {
			t.Fatal(err)
		}
		var ops []struct{ Value string }
		if err := yaml.Unmarshal([]byte(k.Patches[1].Patch), &ops); err != nil {
			t.Fatal(err)
		}
		pools, err := agent.ParsePools([]byte(ops[0].Value))
		if err != nil {
			t.Fatal(err)
		}
		if have := fmt.Sprint(pools.PodSubnet, pools.NodeInterconnect, pools.Second.PodSubnet, pools.Second.NodeInterconnect); have != c.ranges || fmt.Sprint(k.Components) != c.components {
			t.Errorf("%v: %s of %v, want %s of %s", c.families, have, k.Components, c.ranges, c.components)
		}
	}
}

// Goal: kind is asked for the families that are meant, and each of them has its rules. Method: a table.
func TestFamilies(t *testing.T) {
	for word, want := range map[string]string{
		"ipv4": "10.244.0.0/16 10.96.0.0/16 [iptables iptables iptables iptables] 172.18.0.2",
		"ipv6": "fd00:10:244::/56 fd00:10:96::/112 [ip6tables ip6tables ip6tables ip6tables] fc00::2",
		"dual": "10.244.0.0/16,fd00:10:244::/56 10.96.0.0/16,fd00:10:96::/112 [iptables iptables iptables iptables ip6tables ip6tables ip6tables ip6tables] 172.18.0.2,fc00::2",
		"both": "", "": "",
	} {
		f := ParseFamilies(word)
		if (f != nil) != (want != "") {
			t.Errorf("%q is %v", word, f)
		}
		if f == nil {
			continue
		}
		p, err := f.pools(netip.MustParsePrefix("192.168.17.0/24"))
		if err != nil {
			t.Fatal(err)
		}
		var programs []string
		for _, rule := range p.rules() {
			programs = append(programs, rule[0])
		}
		ip, err := f.nodeIP(netip.MustParseAddr("172.18.0.2"), netip.MustParseAddr("fc00::2"))
		c := Options{Nodes: 1, Families: f}.config(p)
		if have := fmt.Sprint(c.Networking.PodSubnet, " ", c.Networking.ServiceSubnet, " ", programs, " ", ip); err != nil || have != want || string(c.Networking.IPFamily) != word {
			t.Errorf("%s: %s, %v, want %s", word, have, err, want)
		}
	}
	if ip, err := (Families{v1.IPv6Protocol}).nodeIP(netip.MustParseAddr("172.18.0.2"), netip.Addr{}); err == nil {
		t.Errorf("an engine without IPv6: %s", ip)
	}
}

// Goal: roles grant exactly what the programs ask for: nothing that they need is missing, nothing else is there.
// Method: both as sets of group, resource and verb.
func TestRolesGrantWhatIsNeeded(t *testing.T) {
	granted := map[string]map[string]bool{}
	for _, o := range objects(t, "base/rbac.yaml") {
		if kind := o["kind"]; kind != "ClusterRole" && kind != "Role" {
			continue
		}
		name := o["metadata"].(map[string]any)["name"].(string)
		if granted[name] == nil {
			granted[name] = map[string]bool{}
		}
		for _, r := range o["rules"].([]any) {
			rule := r.(map[string]any)
			for _, g := range rule["apiGroups"].([]any) {
				for _, res := range rule["resources"].([]any) {
					for _, v := range rule["verbs"].([]any) {
						granted[name][g.(string)+" "+res.(string)+" "+v.(string)] = true
					}
				}
			}
		}
	}
	for name, needs := range map[string][]kube.Need{
		"vppdrill-agent":      slices.Concat(kube.AgentNeeds(kube.AgentUse{PoolsNamespace: "kube-system", PoolsName: "vppdrill-pools", Services: true, Policies: true, PoolNode: true, CiliumNode: true, CalicoBlocks: true, NodeConfigs: true}), kube.AgentNeeds(kube.AgentUse{PoolsName: "cluster"})),
		"vppdrill-controller": slices.Concat(kube.ControllerNeeds("kube-system"), kube.OperatorNeeds("kube-system", true), kube.OperatorNeeds("kube-system", false), kube.AddressOperatorNeeds("kube-system", true), kube.CalicoControllerNeeds("kube-system")),
	} {
		left := maps.Clone(granted[name])
		for _, n := range needs {
			for _, v := range n.Verbs {
				what := n.Group + " " + n.Resource + " " + v
				if !granted[name][what] {
					t.Errorf("%s is not granted %q", name, what)
				}
				delete(left, what)
			}
		}
		for what := range left { // in any order
			t.Errorf("%s is granted %q, which it does not need", name, what)
		}
	}
}

// Goal: components exchange the arguments that they mean, and the controller has what Kubernetes wants of a Deployment.
// Method: what each patches, as a test of the argument that stands there in agent and controller, and the controller's
// labels.
func TestComponents(t *testing.T) {
	arguments := func(path string) []any {
		pod := objects(t, path)[0]["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		return pod["containers"].([]any)[0].(map[string]any)["args"].([]any)
	}
	args := map[string][]any{"vppdrill-agent": arguments("base/agent.yaml"), "vppdrill-controller": arguments("controller/controller.yaml")}
	for component, want := range map[string][]string{
		"range-allocator": nil,
		"cluster-pool":    {"vppdrill-controller --type=RangeAllocator --type=cluster-pool", "vppdrill-agent --ipam=nodeipam --ipam=cluster-pool"},
		"multi-pool": {"vppdrill-controller --type=RangeAllocator --type=multi-pool", "vppdrill-controller --node-cidr-mask-size=24 --node-cidr-mask-size=28",
			"vppdrill-agent --ipam=nodeipam --ipam=multi-pool"},
		"calico": {"vppdrill-controller --type=RangeAllocator --type=calico", "vppdrill-controller --node-cidr-mask-size=24 ", "vppdrill-controller --cluster-cidr=10.244.128.0/17 ",
			"vppdrill-agent --ipam=nodeipam --ipam=calico"},
		"crd": {"vppdrill-controller --type=RangeAllocator --type=crd", "vppdrill-controller --node-cidr-mask-size=24 ", "vppdrill-agent --ipam=nodeipam --ipam=crd"},
	} {
		text, err := fs.ReadFile(kubernetes.Files, component+"/kustomization.yaml")
		if err != nil {
			t.Fatal(err)
		}
		var k struct {
			Components []string
			Patches    []struct {
				Target struct{ Name string }
				Patch  string
			}
		}
		if err := yaml.Unmarshal(text, &k); err != nil || !slices.Contains(k.Components, "../controller") {
			t.Errorf("%s: components %v, %v", component, k.Components, err)
		}
		var got []string
		for _, p := range k.Patches {
			var ops []struct{ Op, Path, Value string }
			if err := yaml.Unmarshal([]byte(p.Patch), &ops); err != nil {
				t.Fatal(err)
			}
			for _, op := range ops {
				at, err := strconv.Atoi(strings.TrimPrefix(op.Path, "/spec/template/spec/containers/0/args/"))
				if err != nil || at >= len(args[p.Target.Name]) {
					t.Fatalf("%s: no argument of %s: %s", component, p.Target.Name, op.Path)
				}
				switch there := args[p.Target.Name][at].(string); op.Op {
				case "test":
					if op.Value != there {
						t.Errorf("%s: argument %d of %s is %s, not %s", component, at, p.Target.Name, there, op.Value)
					}
				default:
					got = append(got, p.Target.Name+" "+there+" "+op.Value)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s exchanges %q, want %q", component, got, want)
		}
	}
	spec := objects(t, "controller/controller.yaml")[0]["spec"].(map[string]any)
	labels := spec["template"].(map[string]any)["metadata"].(map[string]any)["labels"]
	if !reflect.DeepEqual(spec["selector"].(map[string]any)["matchLabels"], labels) {
		t.Errorf("it selects %v, and labels %v", spec["selector"], labels)
	}
}

// Goal: a control plane gets every manifest, and the overlay of its own cluster.
func TestArchive(t *testing.T) {
	b, err := archive("the overlay")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(b.Bytes())); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		got[h.Name] = string(text)
	}
	if got["overlays/cluster/kustomization.yaml"] != "the overlay" || !strings.Contains(got["base/crd.yaml"], kube.RecordResource+"."+kube.Group) {
		t.Errorf("%d files: %q", len(got), got["overlays/cluster/kustomization.yaml"])
	}
}

// Goal: no two nodes' uplinks have one MAC, and none has Linux's own, whose frames Linux would forward a second time.
func TestUplinkMAC(t *testing.T) {
	own, _ := net.ParseMAC("02:42:c0:a8:10:02")
	other, _ := net.ParseMAC("02:42:c0:a8:10:03")
	got := uplinkMAC(own)
	if got.String() != "02:76:c0:a8:10:02" || bytes.Equal(got, uplinkMAC(other)) || bytes.Equal(got, own) || own.String() != "02:42:c0:a8:10:02" {
		t.Errorf("%s of %s", got, own)
	}
}

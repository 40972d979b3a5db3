package kindcluster

import (
	"archive/tar"
	"bytes"
	"errors"
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

// Goal: the settings and ranges that clusters start with are some that agents take. Method: the agent's own parsers.
func TestSettingsAreTaken(t *testing.T) {
	for _, o := range objects(t, "base/config.yaml") {
		data := o["data"].(map[string]any)
		if text, ok := data["contiv.yaml"].(string); ok {
			cfg, err := agent.ParseConfig("contiv.yaml", []byte(text))
			if err != nil || !cfg.ExternalByHost {
				t.Errorf("%+v, %v", cfg, err)
			}
		}
		if text, ok := data[kube.PoolsKey].(string); ok {
			if pools, err := agent.ParsePools([]byte(text)); err != nil || !pools.External {
				t.Errorf("%+v, %v", pools, err)
			}
		}
	}
	var k struct {
		Patches []struct{ Patch string }
	}
	if err := yaml.Unmarshal([]byte(overlay("image", "sha256:1", netip.MustParsePrefix("192.168.17.0/24"), nil)), &k); err != nil {
		t.Fatal(err)
	}
	var ops []struct{ Value string }
	if err := yaml.Unmarshal([]byte(k.Patches[1].Patch), &ops); err != nil {
		t.Fatal(err)
	}
	pools, err := agent.ParsePools([]byte(ops[0].Value))
	if err != nil || pools.NodeInterconnect != netip.MustParsePrefix("192.168.17.0/24") {
		t.Errorf("%+v, %v", pools, err)
	}
}

// Goal: roles grant exactly what the programs ask for: nothing that they need is missing, nothing else is there. Method: both as sets of
// group, resource and verb.
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
		"vppdrill-agent":      slices.Concat(kube.AgentNeeds(kube.AgentUse{PoolsNamespace: "kube-system", PoolsName: "vppdrill-pools", Services: true, PoolNode: true, NodeConfigs: true}), kube.AgentNeeds(kube.AgentUse{PoolsName: "cluster"})),
		"vppdrill-controller": slices.Concat(kube.ControllerNeeds("kube-system"), kube.OperatorNeeds("kube-system", true), kube.OperatorNeeds("kube-system", false)),
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

// Goal: components exchange the arguments that they mean, and the controller has what Kubernetes wants of a Deployment. Method: what each
// patches, as a test of the argument that stands there in agent and controller, and the controller's labels.
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

package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/vppdrill/vppdrill/fixtures/kubernetes"
	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// definition is a custom resource's, its schema as JSON.
type definition struct {
	group, version, plural, kind string
	schema                       map[string]any
}

func definitions(t *testing.T) (list []definition) {
	t.Helper()
	text, err := fs.ReadFile(kubernetes.Files, "base/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range strings.Split(string(text), "\n---\n") {
		var d struct {
			Spec struct {
				Group    string
				Names    struct{ Kind, Plural string }
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(one), &d); err != nil {
			t.Fatal(err)
		}
		v := d.Spec.Versions[0]
		list = append(list, definition{d.Spec.Group, v.Name, d.Spec.Names.Plural, d.Spec.Names.Kind, v.Schema.OpenAPIV3Schema})
	}
	return list
}

// openAPI is what a server publishes of a definition.
func (d definition) openAPI() []byte {
	whole := map[string]any{"x-kubernetes-group-version-kind": []any{map[string]any{"group": d.group, "version": d.version, "kind": d.kind}}}
	for k, v := range d.schema {
		whole[k] = v
	}
	text, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": map[string]any{"other": nil, "list": map[string]any{}, d.kind: whole}}})
	if err != nil {
		panic(err)
	}
	return text
}

// eachField calls do for each field below a schema with the object that names it.
func eachField(schema map[string]any, path string, do func(path string, properties map[string]any, name string)) {
	for {
		items, ok := schema["items"].(map[string]any)
		if !ok {
			break
		}
		schema = items
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, below := range properties { // in any order: each is tried
		do(strings.TrimPrefix(path+"."+name, "."), properties, name)
		eachField(below.(map[string]any), path+"."+name, do)
	}
}

// Goal: a definition that drops anything that this program writes is refused, with the field and what mends it; one
// that keeps what it does not name is not, and neither is a server that publishes nothing. Method: the definitions that
// come along, each without each of its fields, as a server publishes them.
func TestDroppedFields(t *testing.T) {
	var answer atomic.Pointer[[]byte]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := answer.Load(); text != nil && r.URL.Path == "/openapi/v3/apis/vppdrill.github.io/v1alpha1" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(*text) // who is gone has no use for it
			return
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	c, err := Through(Way{Carrier: base, Host: s.URL}, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string]Need{}
	for _, n := range slices.Concat(AgentNeeds(AgentUse{PoolNode: true}), OperatorNeeds("kube-system", true), OperatorNeeds("kube-system", false)) {
		changes := slices.Contains(n.Verbs, "create") || slices.Contains(n.Verbs, "update")
		if changes && n.Group == Group && len(n.Fields) == 0 {
			t.Errorf("%s is written, and nobody looks whether it is kept", n)
		}
		if len(n.Fields) > 0 {
			writes[n.Resource] = n
		}
	}
	tried := 0
	for _, d := range definitions(t) {
		n, ok := writes[d.plural]
		if !ok {
			continue
		}
		ask := func() error {
			text := d.openAPI()
			answer.Store(&text)
			return c.keeps(t.Context(), n)
		}
		if err := ask(); err != nil {
			t.Errorf("the definition that comes along: %v", err)
		}
		eachField(d.schema, "", func(path string, properties map[string]any, name string) {
			kept := properties[name]
			delete(properties, name)
			err := ask()
			if !errors.Is(err, ErrNotReady) || !strings.Contains(fmt.Sprint(err), n.String()+" drops "+path) || !strings.HasSuffix(fmt.Sprint(err), ": "+mendDefinitions) {
				t.Errorf("%s without %s: %v", d.plural, path, err)
			}
			d.schema["x-kubernetes-preserve-unknown-fields"] = true
			if err := ask(); (err == nil) != !strings.Contains(path, ".") { // it holds for its own level alone
				t.Errorf("%s without %s, keeping all: %v", d.plural, path, err)
			}
			delete(d.schema, "x-kubernetes-preserve-unknown-fields")
			properties[name] = kept
			tried++
		})
	}
	if tried != 3+11 {
		t.Errorf("%d fields were tried", tried)
	}
	answer.Store(nil)
	if err := c.keeps(t.Context(), writes[PoolNodeResource]); err != nil {
		t.Errorf("nothing is published: %v", err)
	}
}

// Goal: the fields that the server is asked for are those that are written, no fewer. Method: objects with everything
// in them, as JSON.
func TestWrittenFields(t *testing.T) {
	var leaves func(v any, path string) []string
	leaves = func(v any, path string) (list []string) {
		switch v := v.(type) {
		case map[string]any:
			for name, below := range v { // in any order: it is a set
				list = append(list, leaves(below, path+"."+name)...)
			}
			return list
		case []any:
			for _, below := range v {
				if _, ok := below.(map[string]any); ok {
					list = append(list, leaves(below, path)...)
				}
			}
			if len(list) > 0 {
				return list
			}
		}
		return []string{strings.TrimPrefix(path, ".")}
	}
	fresh, err := newPoolNode(cilium.Object{CiliumNode: &cilium.CiliumNode{Metadata: cilium.ObjectMeta{Name: "n"}}, Owner: "u"})
	if err != nil {
		t.Fatal(err)
	}
	pools, err := withPools(fresh, cilium.PoolsSpec{
		Requested: []cilium.PoolRequest{{Pool: "p", Needed: cilium.PoolDemand{IPv4Addrs: 1, IPv6Addrs: 1}}},
		Allocated: []cilium.PoolAllocation{{Pool: "p", CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(newRecord("n", "k", "v", "1"))
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec any
		want []string
	}{{pools.Object["spec"], poolFields}, {record["spec"], recordFields}} {
		got := leaves(c.spec, ".spec")
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("written are %q, looked for %q", got, want)
		}
	}
}

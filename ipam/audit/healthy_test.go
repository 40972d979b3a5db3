package audit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Goal: exports of clusters without a fault have no finding, however they come: whole, in the other order, twice, object
// by object, without the CNI's records as the documented command gets them, and the records alone. Method: small
// clusters of each CNI in the shapes of its own definitions, with what looks odd and is right: borrowed and reserved
// addresses, load balancers' blocks, addresses of agents, ended pods, networks with the same range.
func TestHealthy(t *testing.T) {
	files, err := filepath.Glob("testdata/healthy/*.json")
	if err != nil || len(files) < 17 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			objects := objectsOf(t, path)
			backwards := slices.Clone(objects)
			slices.Reverse(backwards)
			for name, list := range map[string][]string{
				"whole": objects, "backwards": backwards, "twice": slices.Concat(objects, backwards),
				"core alone":    slices.DeleteFunc(slices.Clone(objects), func(o string) bool { return !isCore(o) }),
				"records alone": slices.DeleteFunc(slices.Clone(objects), isCore),
			} {
				var o Objects
				for _, one := range list {
					if err := o.Parse("f", []byte(one)); err != nil {
						t.Fatal(err)
					}
				}
				r := Judge(&o)
				if again := told(Judge(&o), true); again != told(r, true) {
					t.Errorf("%s: judged again:\n%s", name, again)
				}
				if name == "core alone" { // of a network that ends at its node, only its definition says so
					r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.Text, "unless the network ends at each node") })
				}
				if len(r.Findings) > 0 {
					t.Errorf("%s:\n%s", name, told(r, false))
				}
				if name == "whole" && (r.Nodes < 2 || r.Pods < 2 || r.Judged[LawDuplicate] < 2) {
					t.Errorf("%s", told(r, true))
				}
			}
		})
	}
}

// Goal: what a former CNI left makes no finding and hides none. Method: each healthy cluster with the records of each
// other one's CNI, whose nodes and pods are gone; and one address for two pods in each.
func TestStale(t *testing.T) {
	files, err := filepath.Glob("testdata/healthy/*.json")
	if err != nil {
		t.Fatal(err)
	}
	systemOf := func(path string) string {
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
		return map[string]string{"canal": "calico", "flannel": "calico"}[name] + name
	}
	pairs := 0
	for _, path := range files {
		for _, former := range files {
			// Records of whereabouts are of second interfaces, which every CNI has; kube-ovn's pods are called as others.
			if left := filepath.Base(former); systemOf(path) == systemOf(former) || strings.Contains(systemOf(path), "calico") && strings.Contains(systemOf(former), "calico") ||
				left == "whereabouts-multus.json" || left == "kube-ovn.json" {
				continue
			}
			pairs++
			var o Objects
			left := slices.DeleteFunc(objectsOf(t, former), func(one string) bool { return isCore(one) || strings.Contains(one, `"networking.k8s.io/v1"`) })
			for _, one := range slices.Concat(objectsOf(t, path), left, []string{
				`{"kind": "Pod", "metadata": {"namespace": "x", "name": "a"}, "status": {"podIP": "198.18.0.1"}}`,
				`{"kind": "Pod", "metadata": {"namespace": "x", "name": "b"}, "status": {"podIP": "198.18.0.1"}}`}) {
				if err := o.Parse("f", []byte(one)); err != nil {
					t.Fatal(err)
				}
			}
			if r := Judge(&o); slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Law != LawDuplicate && f.Subject != "198.18.0.1" }) || !r.Broken() {
				t.Errorf("%s after %s:\n%s", filepath.Base(path), filepath.Base(former), told(r, false))
			}
		}
	}
	if pairs < 100 {
		t.Errorf("%d pairs", pairs)
	}
}

// objectsOf are the objects of a file, and those of ipamd beside it.
func objectsOf(t *testing.T, path string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	var items struct{ Items []json.RawMessage }
	if err == nil {
		err = json.Unmarshal(text, &items)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items.Items {
		list = append(list, string(item))
	}
	more, err := os.ReadFile(strings.TrimSuffix(path, ".json") + ".ipamd")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return slices.AppendSeq(list, strings.Lines(string(more)))
}

// isCore reports whether an object is one that clusters without a CNI have.
func isCore(object string) bool {
	var o struct{ Kind string }
	return json.Unmarshal([]byte(object), &o) == nil && slices.Contains([]string{"Node", "Pod", "Service"}, o.Kind)
}

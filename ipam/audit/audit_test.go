package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Goal: each law tells what breaks it and is silent about what does not; what cannot be judged is said. Method:
// clusters in a few words, which become the JSON that kubectl prints, and the report of each.
func TestAudit(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var o Objects
			for _, arg := range d.CmdArgs {
				f, err := os.Open(filepath.Join("testdata", arg.Key))
				if err != nil {
					t.Fatal(err)
				}
				err = errors.Join(o.Read(filepath.Base(arg.Key), f), f.Close())
				if err != nil {
					return err.Error()
				}
			}
			for line := range strings.Lines(d.Input) {
				if err := o.Parse("line", []byte(manifest(t, strings.Fields(line)))); err != nil {
					return err.Error()
				}
			}
			return told(Judge(&o), d.Cmd == "audit")
		})
	})
}

// told is a report in lines; whole with what was looked at.
func told(r Report, whole bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes, %d pods, broken %t\n", r.Nodes, r.Pods, r.Broken())
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f)
	}
	for _, s := range r.Systems {
		fmt.Fprintln(&b, "system", s)
	}
	for _, u := range r.Unknown {
		fmt.Fprintln(&b, "unknown", u)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Unread)) {
		fmt.Fprintln(&b, "unread", r.Unread[kind], kind)
	}
	for _, law := range Laws() {
		if r.Judged[law] > 0 && whole {
			fmt.Fprintf(&b, "judged %s %d\n", law, r.Judged[law])
		}
	}
	return b.String()
}

// manifest is a line of a story as an object.
func manifest(t *testing.T, w []string) string {
	quoted := func(list string) string { return `"` + strings.ReplaceAll(list, ",", `","`) + `"` }
	arg := func(i int) string {
		if i < len(w) {
			return w[i]
		}
		return ""
	}
	switch w[0] {
	case "json": // as it is
		return strings.Join(w[1:], " ")
	case "node": // name address podCIDRs maxPods
		cidrs := ""
		if arg(3) != "-" && arg(3) != "" {
			cidrs = quoted(arg(3))
		}
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q},"spec":{"podCIDRs":[%s]},"status":{"addresses":[{"type":"InternalIP","address":%q},{"type":"Hostname","address":%q}],"allocatable":{"pods":%q}}}`,
			arg(1), cidrs, arg(2), arg(1), arg(4))
	case "pod": // namespace/name node address phase
		namespace, name, _ := strings.Cut(arg(1), "/")
		return fmt.Sprintf(`{"kind":"Pod","metadata":{"namespace":%q,"name":%q},"spec":{"nodeName":%q,"hostNetwork":%t},"status":{"phase":%q,"podIP":%q,"podIPs":[{"ip":%q}]}}`,
			namespace, name, arg(2), arg(4) == "host", strings.TrimSuffix(arg(4), "host"), arg(3), arg(3))
	case "service":
		return fmt.Sprintf(`{"kind":"Service","metadata":{"namespace":"default","name":%q},"spec":{"clusterIP":%q}}`, arg(1), arg(2))
	case "servicecidr":
		return fmt.Sprintf(`{"kind":"ServiceCIDRList","items":[{"metadata":{"name":%q},"spec":{"cidrs":[%s]}}]}`, arg(1), quoted(arg(2)))
	case "calico": // cidr host pod,pod@node,-; a host with a colon is a whole affinity, "-" is none
		affinity := "host:" + arg(2)
		if arg(2) == "-" || strings.Contains(arg(2), ":") {
			affinity = strings.TrimPrefix(arg(2), "-")
		}
		var attributes, allocations []string
		for i, p := range strings.Split(arg(3), ",") {
			if p == "-" {
				allocations = append(allocations, "null")
				attributes = append(attributes, `{"handle_id":"x"}`)
				continue
			}
			p, node, elsewhere := strings.Cut(p, "@")
			if !elsewhere {
				node = arg(2)
			}
			namespace, name, _ := strings.Cut(p, "/")
			allocations = append(allocations, fmt.Sprint(i))
			attributes = append(attributes, fmt.Sprintf(`{"handle_id":"x","secondary":{"namespace":%q,"pod":%q,"node":%q}}`, namespace, name, node))
		}
		return fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMBlock","metadata":{"name":%q},"spec":{"cidr":%q,"affinity":%q,"allocations":[%s],"attributes":[%s]}}`,
			arg(1), arg(1), affinity, strings.Join(allocations, ","), strings.Join(attributes, ","))
	case "pools": // node cidrs
		return fmt.Sprintf(`{"apiVersion":"vppdrill.github.io/v1alpha1","kind":"PoolNode","metadata":{"name":%q},"spec":{"ipam":{"pools":{"allocated":[{"pool":"default","cidrs":[%s]}]}}}}`, arg(1), quoted(arg(2)))
	case "cilium": // node cidr address=owner, with "+" for a space
		used := ""
		if addr, owner, ok := strings.Cut(arg(3), "="); ok {
			used = fmt.Sprintf(`%q:{"owner":%q}`, addr, strings.ReplaceAll(owner, "+", " "))
		}
		return fmt.Sprintf(`{"kind":"CiliumNode","metadata":{"name":%q},"spec":{"ipam":{"podCIDRs":[%s]}},"status":{"ipam":{"used":{%s}}}}`, arg(1), quoted(arg(2)), used)
	case "record": // id node cidr
		return fmt.Sprintf(`{"kind":"NodeIDRecord","metadata":{"name":%q},"spec":{"key":"allocatedIDs/%s","record":"{\"name\":\"%s\",\"pod_networks\":[\"%s\"]}"}}`, arg(1), arg(1), arg(2), arg(3))
	}
	t.Fatalf("%q is no object of a story", w)
	return ""
}

// Goal: what is no cluster is refused with where it is, and whatever is read does not panic.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"nodes:\n- a":         "f:1: want Kubernetes objects as JSON",
		"{\"kind\":\"Node\"}": "an object without kind or name",
		`{"kind":"Node","metadata":{"name":"n"},"spec":{"podCIDR":"10.0.0"}}`:    "f: Node n: spec.podCIDRs: ",
		`{"kind":"Pod","metadata":{"name":"p"},"status":{"podIP":"10.0.0.999"}}`: "f: Pod p: status.podIPs: ",
		"{\"kind\":\"List\",\"items\":[]}\n{":                                    "f:2: want",
	} {
		var o Objects
		if err := o.Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Goal: no text makes a report panic.
func FuzzParse(f *testing.F) {
	f.Add(`{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"a"}}]}`)
	files, err := filepath.Glob("testdata/healthy/*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, path := range files { // objects of each kind
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var list struct{ Items []json.RawMessage }
		if json.Unmarshal(text, &list) != nil { // several objects
			f.Add(string(text))
		}
		for _, item := range list.Items {
			f.Add(string(item))
		}
	}
	f.Fuzz(func(_ *testing.T, text string) {
		var o Objects
		if o.Parse("f", []byte(text)) == nil {
			Judge(&o)
		}
	})
}

package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/normalized"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// life is what happens in every cluster that a setting is tried in: pods and nodes come and go, and everything restarts
// once.
const life = `
name: tried
topology: {nodes: 2, podsPerNode: 2}
config: {agent: {nodeIDQuarantine: 10s}}
timeline:
  - {at: 2s, do: create-pods, app: web, node: node-1, count: 18}
  - {when: settled, do: delete-pods, app: web, node: node-1, count: 14}
  - {after: 20s, do: create-pods, app: web, node: node-1, count: 3}
  - {when: settled, do: restart-agent, node: node-1}
  - {after: 1s, do: restart-vpp, node: node-2}
  - {when: settled, do: add-node}
  - {when: settled, do: remove-node, node: node-2}
  - {after: 4m, do: create-pods, app: web, count: 4}
`

// clusters are those that settings are tried in: every address system in each of its modes, and the ways of wiring.
var clusters = []struct{ name, of string }{
	{"contiv", "{}"},
	{"nodeipam", "{config: {ipam: {system: nodeipam, podSubnetOneNodePrefixLen: 26}}}"},
	{"aliases", "{config: {ipam: {system: nodeipam, podSubnetOneNodePrefixLen: 26, nodeipam: {allocator: CloudAllocator}}}}"},
	{"multi-pool", "{config: {ipam: {system: cilium, podSubnetCIDR: 10.1.0.0/20, podSubnetOneNodePrefixLen: 28, ranges: [10.1.0.0/21]}}}"},
	{"cluster-pool", "{config: {ipam: {system: cilium, podSubnetCIDR: 10.1.0.0/20, podSubnetOneNodePrefixLen: 26, cilium: {mode: cluster-pool}}}}"},
	{"eni", "{config: {ipam: {system: cilium, podSubnetCIDR: 10.1.0.0/20, cilium: {mode: eni}}}}"},
	{"crd", "{config: {ipam: {system: cilium, podSubnetCIDR: 10.1.0.0/20, cilium: {mode: crd}}}}"},
	{"prefixes", "{config: {ipam: {system: datastore, podSubnetCIDR: 10.1.0.0/20, datastore: {instanceType: t3.small}}}}"},
	{"single", "{config: {ipam: {system: datastore, podSubnetCIDR: 10.1.0.0/20, datastore: {prefixDelegation: false}}}}"},
	{"calico", "{config: {ipam: {system: calico, podSubnetCIDR: 10.1.0.0/26, podSubnetOneNodePrefixLen: 29}}}"},
	{"taps", "{config: {wiring: {pod: tap, host: tap}}}"},
	{"veths", "{topology: {podsPerNode: 1}, config: {wiring: {pod: tap, host: veth, node: l2}}}"},
	{"no-host", "{config: {wiring: {host: none}}}"},
	{"services", `{config: {ipam: {defaultGateway: 192.168.16.100}, wiring: {services: vpp}},
	  services: [{name: web, app: web, clusterIP: 10.96.0.10, externalIP: 20.20.20.20, nodePort: 30080, protocol: tcp}]}`},
	{"leases", "{config: {ipam: {nodeInterconnectDHCP: true}, dhcp: {router: 192.168.16.1}}}"},
}

// system and wiring are where settings of a section are tried; others in the first cluster, unless they say where.
var (
	system = []string{"contiv", "nodeipam", "aliases", "multi-pool", "cluster-pool", "eni", "crd", "prefixes", "single", "calico", "services", "leases"}
	wiring = []string{"contiv", "taps", "veths", "no-host", "services", "leases"}
)

// try is how a setting is tried.
type try struct {
	value string
	// with is what both runs have beside it, in the clusters named in, empty for all of its section.
	with string
	in   []string
	// more is what both runs have beside that in single clusters.
	more map[string]string
	// but are clusters, or * for all, in which it is not refused and changes nothing, and why that is well. In some
	// cluster it must change something.
	but map[string]string
	// bound: it decides what is refused, and nothing else.
	bound bool
	// never: nothing changes anywhere, and why that is well.
	never string
}

// Goal: no setting of a scenario is accepted that changes nothing. Method: by reflection every field of a file; a
// cluster of each kind lives its life with and without it. Either it is refused by name, or the run differs, in its
// events or in what comes of them. A new setting that nobody has given a value here fails.
func TestSettingsCount(t *testing.T) {
	if testing.Short() {
		t.Skip("a run of every setting in every kind of cluster: a minute")
	}
	plain := map[string]string{}
	for _, path := range leaves(reflect.ValueOf(scenarios.Default()), "") {
		how, ok := tries[path]
		if !ok {
			t.Errorf("%s has no value here", path)
			continue
		}
		if how.never != "" {
			continue
		}
		in := how.in
		switch {
		case in != nil:
		case strings.HasPrefix(path, "config.ipam."):
			in = system
		case strings.HasPrefix(path, "config.wiring."):
			in = wiring
		default:
			in = []string{"contiv"}
		}
		counted := false
		for _, c := range clusters {
			if !slices.Contains(in, c.name) {
				continue
			}
			base := parts(t, life, c.of, how.with, how.more[c.name])
			key := fmt.Sprint(c.name, how.with, how.more[c.name])
			before, known := plain[key]
			if !known {
				var refusal string
				if before, refusal = lives(base); refusal != "" {
					before = ""
				}
				plain[key] = before
			}
			if before == "" {
				continue // the rest is not of such a cluster
			}
			after, refusal := lives(put(t, base, path, how.value))
			cut := strings.LastIndexByte(path, '.')
			last, section := path[cut+1:], path[:max(cut, 0)]
			excuse := how.but[c.name] + how.but["*"]
			switch {
			case refusal != "" && !strings.Contains(refusal, last) && !strings.Contains(refusal, ": "+section+".") && !strings.Contains(refusal, ": "+section+": "):
				t.Errorf("%s: %s in %s is refused without its name: %s", path, how.value, c.name, refusal)
			case refusal != "":
			case after != before:
				counted = true
			case excuse == "":
				t.Errorf("%s: %s in %s is accepted and changes nothing", path, how.value, c.name)
			}
		}
		if !counted && !how.bound {
			t.Errorf("%s: %s changes nothing in any cluster", path, how.value)
		}
	}
}

// lives is what comes of a scenario: the digest of its events and what the result says of them, or why it is refused.
func lives(file map[string]any) (outcome, refusal string) {
	text, err := yaml.Marshal(file)
	if err != nil {
		return "", err.Error()
	}
	s, err := scenarios.Parse("tried.yaml", text)
	if err != nil {
		return "", err.Error()
	}
	laws, err := result.SelectLaws(s, check.All())
	if err != nil {
		return "", err.Error()
	}
	var end []string
	logs := fnv.New64a()
	r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: laws, AtEnd: func(s fact.Snapshot) { end = normalized.Of(s) },
		Logs: func(node string, e agent.Log) { _, _ = fmt.Fprint(logs, node, e) }}) // a hash takes everything
	if err != nil {
		return "", err.Error()
	}
	out, err := json.Marshal(struct {
		Digest, Verdict, Error string
		Laws                   any
		Summary                any
		Failure                bool
		End                    []string
		Logs                   uint64
	}{r.Digest, string(r.Verdict), r.Error, r.Laws, r.Summary, r.Failure != nil, end, logs.Sum64()})
	if err != nil {
		return "", err.Error()
	}
	return string(out), ""
}

// leaves are the paths of a section's fields that are no sections; of lists of sections those of the first one.
func leaves(of reflect.Value, path string) (list []string) {
	for _, m := range scenarios.Members(of) {
		name := strictyaml.Join(path, m.Name)
		switch t := m.Type; {
		case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && len(strictyaml.Fields(t.Elem())) > 0:
			list = append(list, leaves(reflect.Zero(t.Elem()), name+"[0]")...)
		case t.Kind() == reflect.Struct && len(strictyaml.Fields(t)) > 0:
			list = append(list, leaves(m.Value, name)...)
		default:
			list = append(list, name)
		}
	}
	return list
}

// parts merges files, later ones over earlier ones; lists take each other's place.
func parts(t *testing.T, texts ...string) map[string]any {
	all := map[string]any{}
	for _, text := range texts {
		one := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &one); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		merge(all, one)
	}
	return all
}

func merge(into, from map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(from)) {
		inner, is := from[k].(map[string]any)
		if old, was := into[k].(map[string]any); is && was {
			merge(old, inner)
			continue
		}
		into[k] = from[k]
	}
}

// put is the file with a value at a path, whose list is there.
func put(t *testing.T, file map[string]any, path, value string) map[string]any {
	text, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	out := parts(t, string(text))
	at := out
	names := strings.Split(path, ".")
	for i, name := range names {
		name, index, isList := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		switch n, _ := strconv.Atoi(index); {
		case i == len(names)-1:
			var v any
			if err := yaml.Unmarshal([]byte(value), &v); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			at[name] = v
		case isList:
			list, _ := at[name].([]any)
			for len(list) <= n {
				list = append(list, map[string]any{})
			}
			at[name] = list
			at = list[n].(map[string]any)
		default:
			if _, ok := at[name].(map[string]any); !ok {
				at[name] = map[string]any{}
			}
			at = at[name].(map[string]any)
		}
	}
	return out
}

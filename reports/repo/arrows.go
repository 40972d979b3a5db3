package repo

import (
	"maps"
	"slices"
	"strings"
)

// arrow says which packages of this module a package may import. Patterns are paths relative to the root; "x/..." is x and
// everything below it, as in go list.
type arrow struct {
	from string
	may  []string
	why  string
}

// arrows is ordered: the first pattern that matches a package is its arrow.
var arrows = []arrow{
	{".", []string{"scenarios/cmd", "lab/cmd", "vppwire/cmd", "ipam/cmd", "sim", "sim/...", "lab", "lab/...", "vppwire/agent", "vppwire/cni", "vppwire/host/kube", "vppwire/host/kube/indexedjob", "reports", "reports/experiment", "scenarios/..."},
		"main only assembles commands, so that each of them can be tested without a process"},
	{"ipam/noun", nil,
		"a noun is the same whatever is counted"},
	{"ipam/space", nil,
		"prefix arithmetic must be usable, and provable, without knowing what an address is for"},
	{"ipam/nodeipam", []string{"ipam", "ipam/space", "ipam/contiv", "ipam/internal/cidrset"},
		"pods of a pod CIDR are wired like Contiv's, so their addresses come from the same pool; the CIDRs themselves know no pod"},
	{"ipam/cmd", []string{"ipam/...", "scenarios", "scenarios/cmd/cli", "vppwire/agent", "vppwire/inputfile", "vppwire/strictyaml"},
		"a command that explains an address plan reads the same scenario files as a run, and the same settings as an agent"},
	{"ipam/recordtest", []string{"ipam"},
		"what every address system owes is tried on each of them, so it knows none"},
	{"ipam/systemtest", nil,
		"what every driver of a system owes is tried on each of them, so it knows neither machines nor drivers"},
	{"ipam/plan", []string{"ipam/..."},
		"an explanation must come from the allocators that it explains"},
	{"ipam/audit", []string{"ipam/kubectl", "ipam/noun", "ipam/space"},
		"what is wrong with a cluster is told from what it shows, whatever allocated there; space is arithmetic, and no allocator"},
	{"ipam/...", []string{"ipam", "ipam/noun", "ipam/space"},
		"allocators that know nothing of VPP or nodes can be checked exhaustively and used by strangers"},
	{"vppwire/linkname", nil,
		"what Linux allows in a name must be usable by the plugin, which starts for each pod and must start fast"},
	{"vppwire", nil,
		"desired state is about VPP alone: who owns an address is decided before it gets here"},
	{"vppwire/mode", []string{"vppwire", "ipam"},
		"a wiring mode is a function from facts to objects; anything more would hide state in it"},
	{"vppwire/agent/nodeid", nil,
		"who holds which ID is decided by a protocol on a store; with addresses or wiring in it, it could not be searched exhaustively"},
	{"vppwire/service", []string{"vppwire"},
		"what a service wants of VPP follows from facts about it; with a wiring or a node in it, it could not be told from kube-proxy's side"},
	{"vppwire/filelock", nil,
		"a lock is the same whatever is written into the file"},
	{"vppwire/policy", []string{"vppwire", "vppwire/service"},
		"what policies let through follows from facts about them; with a wiring in it, it could not be told from an obvious reading of them"},
	{"vppwire/inputfile", nil,
		"a file that a person names is read within the same bounds whoever reads it"},
	{"vppwire/peercred", nil,
		"who is at the other end of a socket is Linux' word; what they may do is decided by who asks"},
	{"vppwire/oneline", nil,
		"a message is joined the same way whoever tells it"},
	{"vppwire/strictyaml", []string{"vppwire/oneline"},
		"a file's grammar is its structs; what they mean is decided by who reads them"},
	{"vppwire/agent/story", []string{"ipam", "ipam/nodeipam", "vppwire", "vppwire/mode", "vppwire/service", "vppwire/agent", "vppwire/agent/nodeid", "sim/hostmodel", "sim/vppmodel"},
		"a story needs machines to happen on, and the models are the only ones that need neither root nor a VPP"},
	{"vppwire/agent/storetest", []string{"vppwire/agent", "sim/engine"},
		"what a store owes is tried on the real one and on models, so it knows neither; its random requests are the simulator's engine's affair"},
	{"vppwire/agent/journaltest", []string{"vppwire/agent", "sim/engine"},
		"what a journal owes is tried on the real one and on models, so it knows neither; trying everything is the simulator's engine's affair"},
	{"vppwire/agent", []string{"ipam/...", "vppwire", "vppwire/mode", "vppwire/policy", "vppwire/service", "vppwire/linkname", "vppwire/agent/nodeid", "vppwire/strictyaml"},
		"the agent joins addresses and wiring and runs unchanged everywhere, so it may not know any world"},
	{"vppwire/cni/...", []string{"vppwire/cni/...", "vppwire/linkname", "vppwire/peercred"},
		"the plugin is started for each pod and lives for milliseconds: it asks the agent and knows nothing itself"},
	{"vppwire/host/journal", []string{"vppwire/agent", "vppwire/agent/journaltest"},
		"a journal keeps lines; what they mean is decided by who reads them"},
	{"vppwire/cmd", []string{"vppwire/...", "ipam/...", "scenarios/cmd/cli"},
		"commands put the parts of a node together and are put together with others by main alone"},
	{"vppwire/...", []string{"vppwire/...", "ipam/..."},
		"the real host drives the same agent; it may not know that a simulator or a scenario exists"},
	{"scenarios", []string{"vppwire/inputfile", "ipam/...", "vppwire", "vppwire/mode", "vppwire/strictyaml", "vppwire/oneline"},
		"a scenario file is read and written by people; it knows no run"},
	{"scenarios/fact", []string{"scenarios", "ipam", "vppwire"},
		"the narrow waist uses value types only, so that laws judge every world by the same words"},
	{"scenarios/result", []string{"scenarios", "scenarios/fact", "ipam", "ipam/space", "vppwire/oneline", "vppwire/strictyaml"},
		"a run is judged by what its world tells; it may know no world and no law"},
	{"scenarios/yardstick", nil,
		"what measures the machine may contain nothing that changes"},
	{"scenarios/cmd/cli", []string{"ipam/noun", "vppwire/strictyaml"},
		"what all commands share may belong to none of them"},
	{"scenarios/cmd", []string{"scenarios/...", "vppwire/inputfile", "vppwire/strictyaml", "sim/parity", "sim/vppmodel", "sim/vppmodel/socket", "sim/ec2", "sim/ec2/endpoint", "ipam/datastore", "ipam/noun", "fixtures/..."},
		"commands about scenarios get worlds, laws and formats from main; the modelled VPP and EC2 are the parts of a world that have commands of their own"},
	{"scenarios/choice", nil,
		"a draw that knew what it is for could not be the same in two worlds"},
	{"scenarios/hostlocal", []string{"ipam"},
		"a plugin beside the agent knows addresses and their owners alone"},
	{"scenarios/agentconfig", []string{"scenarios", "vppwire/agent"},
		"a scenario means the same agents in all worlds, so what it says of them becomes their configuration in one place"},
	{"scenarios/selected", []string{"scenarios", "vppwire", "vppwire/policy"},
		"what a scenario's policies are in an agent's words must be the same in every world"},
	{"scenarios/endpoints", []string{"scenarios", "scenarios/fact", "vppwire", "vppwire/service"},
		"what a control plane tells agents of services is the same in all worlds, so it is made in one place"},
	{"scenarios/timeline", []string{"scenarios", "scenarios/fact", "scenarios/result", "scenarios/agentconfig", "scenarios/check", "scenarios/choice", "scenarios/walk", "ipam", "ipam/contiv", "ipam/noun", "vppwire/agent", "vppwire/agent/nodeid"},
		"what an action means is decided once, for worlds that it knows through an interface alone"},
	{"scenarios/podworker", nil,
		"what a kubelet does next with a pod follows from what came of it so far, whatever runs the pod"},
	{"scenarios/...", []string{"scenarios/...", "ipam/...", "vppwire", "vppwire/filelock", "vppwire/inputfile", "vppwire/strictyaml"},
		"a law that looked into one world could not judge the other"},
	{"sim/engine", []string{"scenarios/choice"},
		"the engine orders events; if it knew one of them, it would order that one differently one day; seeds draw alike in all worlds"},
	{"sim/vppmodel", []string{"sim/engine"},
		"a model that shares a belief with the code it judges cannot contradict it"},
	{"sim/vppmodel/apitrace", []string{"sim/vppmodel"},
		"a trace says what a modelled VPP was asked, whoever asked it"},
	{"sim/ec2", []string{"ipam/space"},
		"a model of EC2 that knows the ipamd which asks it cannot contradict it"},
	{"sim/ec2/endpoint", []string{"sim/ec2"},
		"what speaks EC2's protocol decides nothing that the model decides, and knows no client"},
	{"sim/museum", []string{"ipam/...", "vppwire/agent/...", "vppwire/service", "scenarios", "scenarios/fact", "scenarios/result", "scenarios/catalog", "scenarios/check", "sim", "sim/internal/controllers", "sim/ec2", "vppwire/strictyaml"},
		"a planted fault wraps what the product made; whoever imported it could come to need it"},
	{"sim/...", []string{"sim/...", "ipam/...", "vppwire", "vppwire/mode", "vppwire/policy", "vppwire/service", "vppwire/linkname", "vppwire/agent/...", "vppwire/strictyaml", "scenarios/..."},
		"the simulator may not reach into a lab, the real host or the reports: a run is the same without them"},
	{"lab/internal/cloud", []string{"sim/ec2", "sim/ec2/endpoint", "ipam/datastore", "ipam/space", "scenarios", "scenarios/blockranges", "scenarios/result"},
		"AWS itself is in no lab: its double answers nodes by AWS' protocol, and says what it has assigned"},
	{"lab/internal/faults", []string{"sim/fault", "scenarios", "scenarios/choice", "vppwire", "vppwire/agent", "vppwire/host", "vppwire/host/journal"},
		"which operation a fault strikes is decided by the same injectors in every world; what comes of it is the lab's"},
	{"lab/internal/kindcluster", []string{"lab", "lab/internal/image", "lab/internal/spawn", "lab/vppproc", "fixtures/kubernetes", "vppwire"},
		"a cluster runs what anybody applies to one, and nothing that only labs know"},
	{"lab/...", []string{"lab/...", "ipam/...", "vppwire/...", "scenarios/..."},
		"what a lab reports must come from real processes, never from the simulator"},
	{"fixtures/...", nil,
		"recorded facts that import code start to agree with it"},
	{"reports/mutation/...", []string{"reports/mutation", "scenarios/result", "vppwire/strictyaml"},
		"faults are planted into sources and seen from outside, through the program that a user has; a list of them is read as all files are"},
	{"reports/experiment", []string{"reports/picturetest", "scenarios", "scenarios/fact", "scenarios/result", "scenarios/experiment"},
		"a page draws what an experiment has worked out and works nothing out itself"},
	{"reports/...", []string{"reports/...", "scenarios", "scenarios/fact", "scenarios/result", "ipam/noun", "vppwire/filelock"},
		"a report that knows how a run works would have to be trusted twice"},
}

// private are packages that only main, and tests of their own, may import.
var private = []string{"reports/...", "scenarios/cmd", "lab/cmd", "vppwire/cmd", "ipam/cmd"}

// strangersIn are libraries with the only places that may use them. Tests may import anything that go.mod lists.
var strangersIn = []struct {
	library string
	in      []string
	why     string
}{
	{"gonum.org", []string{"reports/experiment"},
		"plots are drawn in one place, and figures come without a library of statistics, which each of them names"},
	{"k8s.io", []string{"vppwire/host", "vppwire/host/kube", "vppwire/internal/conformance", "vppwire/host/kube/indexedjob", "vppwire/host/kube/apiserver", "lab/internal/kindcluster", "lab/kindworld"},
		"client-go is large and brings goroutines and clocks with it; few folders can be watched, twenty cannot"},
	{"go.etcd.io/etcd", []string{"vppwire/host/etcd", "vppwire/internal/embedded", "lab/..."},
		"who talks to etcd, and who runs it, is behind the interfaces of vppwire/host: Kubernetes takes its place there"},
	{"sigs.k8s.io", []string{"lab/internal/kindcluster"}, "kind makes clusters in one place"},
	{"github.com/vishvananda", []string{"vppwire/host/linux", "vppwire/cni", "lab/..."},
		"the agent changes the kernel in one place, which the modelled one is compared with; the plugin looks into the sandbox by itself"},
	{"github.com/testcontainers", []string{"lab/container"}, "containers are one way of making a lab's machines; the lab does not know which it got"},
	{"github.com/moby", []string{"lab/container", "lab/internal/kindcluster"}, "an engine is spoken to where containers are made"},
	{"github.com/containerd", []string{"lab/container", "lab/internal/kindcluster"}, "an engine's errors are told apart where it is spoken to"},
	{"github.com/cavaliergopher/cpio", []string{"lab/internal/vm"}, "an initramfs is packed in one place"},
	{"github.com/distribution", []string{"lab/container"}, "images have names where containers are made"},
	{"github.com/aws", []string{"vppwire/host/ipamd/aws"},
		"the SDK is large and has clocks and goroutines of its own; it asks EC2 in one place, and judges the double of EC2 in tests"},
	{"github.com/prometheus", []string{"vppwire/host", "vppwire/host/rest", "vppwire/host/ipamd"},
		"decisions count nothing; whoever drives them does"},
	{"go.fd.io/govpp", []string{"vppwire/...", "sim/vppmodel/...", "sim/parity/...", "sim", "sim/museum", "lab/...", "scenarios/removal", "scenarios/breakage"},
		"VPP's messages are spoken in the wiring, its model and the drivers; laws and reports speak of views, and scenarios/removal reads for them what was sent; scenarios/breakage is another hand than the agent's; a planted fault spoils messages on their way"},
	{"google.golang.org/grpc", []string{"vppwire/host/contiv/cni", "vppwire/host/contiv/lookup", "vppwire/host/contiv/remotecni", "lab/kindworld"},
		"what others may call is served in one place; a kind node's containerd is asked in another"},
	{"github.com/bufbuild", nil, "messages are compiled by the test that says when their Go files are stale"},
	{"github.com/goccy/go-yaml", []string{"vppwire/strictyaml", "scenarios/experiment", "scenarios", "ipam/cmd"}, "there is one decoder of files that people write; two that differ teach two grammars"},
	{"github.com/agnivade/levenshtein", []string{"vppwire/strictyaml"}, "what a wrong word most likely meant is decided once"},
	{"github.com/chromedp", nil, "a browser is needed by tests of the pages alone"},
	{"github.com/onsi", []string{"scenarios/suite"}, "a test framework belongs to tests and to the one package that makes them"},
	{"github.com/rogpeppe/go-internal", nil, "script tests belong to tests"},
	{"github.com/cockroachdb/datadriven", nil, "story goldens belong to tests"},
	{"pgregory.net/rapid", nil, "random properties belong to tests; the simulator's choices go through engine.Chooser"},
	{"golang.org/x/tools", []string{"reports/repo/...", "reports/mutation"},
		"type-checking sources is the business of those who judge them: the repository's rules, and whoever plants faults"},
	{"github.com/spf13/cobra", []string{".", "scenarios/cmd/...", "lab/cmd", "vppwire/cmd", "ipam/cmd"},
		"only commands know that there is a command line"},
}

func arrowRules() []Rule {
	return []Rule{
		{Name: "arrows", Why: "the dependency order of ARCHITECTURE.md is what keeps decisions apart from worlds; " +
			"each finding names the reason of its own arrow", Check: checkArrows},
		{Name: "private", Why: "a package that imports commands or reports can no longer be used as a library",
			Check: checkPrivate},
		{Name: "test-only", Why: "what is made for tests is held to no promise of the program's, and the program must not come to need it",
			Check: checkTestOnly},
		{Name: "model-apart", Why: "the modelled VPP must not share a belief with the code that it judges, not even through a third package",
			Check: checkModelApart},
		{Name: "libraries", Why: "a library that is allowed everywhere soon decides everything", Check: checkLibraries},
	}
}

// matches reports whether a folder is meant by a pattern.
func matches(pattern, folder string) bool {
	if head, ok := strings.CutSuffix(pattern, "/..."); ok {
		return folder == head || strings.HasPrefix(folder, head+"/")
	}
	return pattern == folder
}

func matchesAny(patterns []string, folder string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, folder) })
}

// ours turns an import path into a folder of this module.
func ours(path string) (folder string, ok bool) {
	if path == Module {
		return ".", true
	}
	return strings.CutPrefix(path, Module+"/")
}

func checkArrows(t *Tree) []Finding {
	var found []Finding
	for _, s := range t.Sources {
		if s.Test() {
			continue
		}
		i := slices.IndexFunc(arrows, func(a arrow) bool { return matches(a.from, s.Folder()) })
		if i < 0 {
			found = append(found, Finding{Path: s.Path, What: "package " + s.Folder() + " has no arrow in reports/repo/arrows.go"})
			continue
		}
		for path, pos := range s.Imports {
			folder, ok := ours(path)
			if ok && folder != s.Folder() && !matchesAny(arrows[i].may, folder) {
				found = append(found, s.At(pos, "%s imports %s: %s", s.Folder(), folder, arrows[i].why))
			}
		}
	}
	return found
}

func checkPrivate(t *Tree) []Finding {
	var found []Finding
	for _, s := range t.Sources {
		for path, pos := range s.Imports {
			folder, ok := ours(path)
			if !ok || !matchesAny(private, folder) || s.Folder() == "." || s.Folder() == folder {
				continue
			}
			if matches("reports/...", s.Folder()) && matches("reports/...", folder) {
				continue
			}
			found = append(found, s.At(pos, "%s imports %s, which only main may", s.Folder(), folder))
		}
	}
	return found
}

// testOnly reports whether a folder is one of packages for tests of several packages: internal, with a name that ends in test.
func testOnly(folder string) bool {
	return strings.HasSuffix(folder, "test") && strings.Contains("/"+folder, "/internal/")
}

func checkTestOnly(t *Tree) []Finding {
	var found []Finding
	for _, s := range t.Sources {
		for path, pos := range s.Imports {
			if folder, ok := ours(path); ok && testOnly(folder) && !s.Test() {
				found = append(found, s.At(pos, "%s imports %s, which is for tests", s.Folder(), folder))
			}
		}
	}
	return found
}

func checkModelApart(t *Tree) []Finding {
	type edge struct {
		to string
		at Finding
	}
	edges := map[string][]edge{}
	for _, s := range t.Sources {
		if s.Test() {
			continue
		}
		for path, pos := range s.Imports {
			if folder, ok := ours(path); ok {
				edges[s.Folder()] = append(edges[s.Folder()], edge{folder, s.At(pos, "%s imports %s", s.Folder(), folder)})
			}
		}
	}
	var found []Finding
	seen := map[string]bool{"sim/vppmodel": true}
	for queue := []string{"sim/vppmodel"}; len(queue) > 0; queue = queue[1:] {
		for _, e := range edges[queue[0]] {
			if matches("vppwire/...", e.to) {
				e.at.What += ", and the modelled VPP gets there"
				found = append(found, e.at)
			} else if !seen[e.to] {
				seen[e.to] = true
				queue = append(queue, e.to)
			}
		}
	}
	return found
}

func checkLibraries(t *Tree) []Finding {
	var found []Finding
	for _, s := range t.Sources {
		if s.Test() {
			continue
		}
		for path, pos := range s.Imports {
			if matches("ipam/...", s.Folder()) && s.Folder() != "ipam/cmd" && !standard(path) {
				if _, ok := ours(path); !ok {
					found = append(found, s.At(pos, "ipam imports %s: it keeps to the standard library, so that anybody can vendor it", path))
				}
			}
			for _, l := range strangersIn {
				if (path == l.library || strings.HasPrefix(path, l.library+"/")) && !matchesAny(l.in, s.Folder()) {
					found = append(found, s.At(pos, "%s imports %s: %s", s.Folder(), path, l.why))
				}
			}
		}
	}
	return found
}

// standard reports whether an import path is the standard library's: its first element has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// folders returns the Go packages' sources by folder, and the folders in order.
func (t *Tree) folders() (map[string][]Source, []string) {
	by := map[string][]Source{}
	for _, s := range t.Sources {
		by[s.Folder()] = append(by[s.Folder()], s)
	}
	return by, slices.Sorted(maps.Keys(by))
}

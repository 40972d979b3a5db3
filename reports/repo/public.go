package repo

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"
)

// public names what this program does not call itself and keeps for its users, with the reason. A name is a package's path
// relative to the root, or that, a dot and one function, type (with its exported methods) or method: "scenarios/walk.Walk",
// "ipam.Pod.String". A package's path stands for what it exports and somebody uses: another package's tests, an example, or
// its doc.go by name. So a function of such a package that nobody uses is unreachable like any other. ARCHITECTURE.md lists
// the same names.
var public = []struct{ name, why string }{
	{"vppwire/agent/story", "stories of agents for whoever changes or embeds one: its doc lists the words"},
	{"vppwire/agent/storetest", "the tests that the author of a store runs; ours on etcd and the simulator's pass them"},
	{"vppwire/agent/journaltest", "the tests that the author of a journal runs; ours and the simulator's pass them"},
	{"ipam/systemtest", "the stories that the author of a driver plays; both drivers' tests do"},
	{"ipam/recordtest", "the tests that the author of an address system runs; those of all four systems call them"},
	{"ipam/datastore", "the store of amazon-vpc-cni-k8s under its own names, with its checkpoint file: a thin layer over the Node and NodePool that the simulator runs"},
	{"vppwire/host/contiv", "contiv/vpp's plugins/contiv by upstream's names over a running agent; the agent's REST and gRPC answer by it"},
	{"vppwire/host/contiv/containeridx", "its index of containers, by upstream's names"},
	{"vppwire/host/kube", "agents and controllers on a Kubernetes API server; commands use its Connection, users link its parts with clients, clouds and controllers of their own"},
	{"vppwire.ParseObject", "reads the lines that a plan and a trail print, for tools and for each kind's story"},
	{"scenarios/yardstick", "benchmarks print the machine's rate beside their figures, those of users' own worlds too"},
	{"vppwire/host/journal.OpenInto", "reads a history that need not be kept; ipam/peers races it"},
	{"lab/suite/ran", "the table of what real VPPs have run, which lab/suite's tests write and a program reads"},
	{"scenarios/timeline/worldtest", "the test that the author of a new world runs"},
	{"ipam/contiv", "contiv/vpp's plugins/ipam by upstream's names, over the Allocator and the Plan that agents run"},
	{"ipam/cilium", "cilium/cilium's pkg/ipam by upstream's names, over the ledger and the ranges that a Node has, and both sides of a CiliumNode's pool"},
	{"ipam/cilium.ParseCiliumNode", "reads the resource that operator and agent exchange; String writes it"},
	{"ipam/cilium.NewMultiPool", "makes the named pools that IPAM's Configuration takes"},
	{"ipam/datastore.NewJSONFile", "keeps a DataStore's checkpoint where ipamd does"},
	{"sim/vppmodel/apitrace.Read", "takes a trace apart that VPP or debug export wrote; replays in tests do"},
	{"sim/vppmodel/socket.Start", "serves a modelled VPP in tests of govpp programs; ours of faults does"},
	{"sim/ec2/endpoint", "the double of EC2 in tests of programs that use the AWS SDK: they play faults and count requests"},
	{"sim/ec2.Subnet.Add6", "gives a double's subnet a range of IPv6; the SDK's test does"},
	{"ipam/audit.Objects.Hold", "a reader of further kinds (Objects.Readers) says by it which ranges nodes have"},
	{"ipam/audit.Objects.Use", "such a reader says by it which pods have which addresses"},
	{"ipam.Replay", "who embeds an allocator restores a long journal by it"},
	{"reports/picturetest", "browser tests of both pages hold their pictures against the kept ones by it"},
	{"scenarios/suite", "Ginkgo specs and gomega matchers for users' own scenarios: docs/ginkgo.md shows how"},
}

// PublicNames are the names of public, in its order.
func PublicNames() []string {
	names := make([]string, len(public))
	for i, p := range public {
		names[i] = p.name
	}
	return names
}

// PublicProgram is the source of a program that refers to everything in the public list. A search for unreachable functions
// starts there and at the other programs, so that what public functions need counts as reached. A name of which the tree has
// nothing is a finding.
func PublicProgram(t *Tree) (source string, found []Finding) {
	return programOf(t, PublicNames())
}

func programOf(t *Tree, names []string) (source string, found []Finding) {
	by, folders := t.folders()
	users := t.users()
	var imports, uses strings.Builder
	for i, name := range names {
		folder, symbol := name, ""
		if !slices.Contains(folders, folder) {
			if dot := strings.LastIndex(name, "/") + 1; strings.Contains(name[dot:], ".") {
				folder, symbol, _ = strings.Cut(name[dot:], ".")
				folder = name[:dot] + folder
			}
		}
		alias := fmt.Sprintf("p%d", i)
		var refs []string
		for _, s := range by[folder] {
			if s.Test() || s.Info == nil {
				continue
			}
			for _, d := range s.Syntax.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					if own, ref := reference(alias, f); ref != "" && (symbol == "" && users[folder][path.Base(strings.ReplaceAll(own, ".", "/"))] || own == symbol || strings.HasPrefix(own, symbol+".")) {
						refs = append(refs, ref)
					}
				}
			}
		}
		if len(refs) == 0 {
			found = append(found, Finding{Path: "reports/repo/public.go", What: name + " is public, but there is no such function"})
			continue
		}
		fmt.Fprintf(&imports, "\t%s %q\n", alias, Module+"/"+folder)
		fmt.Fprintf(&uses, "\t%s,\n", strings.Join(refs, ",\n\t"))
	}
	return "// Code generated by reports/repo/repocheck. DO NOT EDIT.\n\npackage main\n\nimport (\n" + imports.String() + ")\n\nvar public = []any{\n" +
		uses.String() + "}\n\nfunc main() { println(len(public)) }\n", found
}

// reference is how another package refers to an exported function, or to a method of an exported type by its expression, and the
// name by which the public list knows it; both are empty for what cannot be referred to. Type parameters become any.
func reference(alias string, f *ast.FuncDecl) (name, ref string) {
	if !f.Name.IsExported() {
		return "", ""
	}
	if f.Recv == nil {
		return f.Name.Name, alias + "." + f.Name.Name + instance(f.Type.TypeParams.NumFields())
	}
	receiver, format := f.Recv.List[0].Type, "%s.%s%s.%s"
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver, format = star.X, "(*%s.%s%s).%s"
	}
	parameters := 0
	switch r := receiver.(type) {
	case *ast.IndexExpr:
		receiver, parameters = r.X, 1
	case *ast.IndexListExpr:
		receiver, parameters = r.X, len(r.Indices)
	}
	owner := types.ExprString(receiver)
	if !ast.IsExported(owner) {
		return "", ""
	}
	return owner + "." + f.Name.Name, fmt.Sprintf(format, alias, owner, instance(parameters), f.Name.Name)
}

func instance(parameters int) string {
	if parameters == 0 {
		return ""
	}
	return "[any" + strings.Repeat(", any", parameters-1) + "]"
}

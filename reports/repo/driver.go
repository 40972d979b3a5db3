package repo

import (
	"go/ast"
	"strings"
)

// drivers are the folders that perform what the machines of ipam ask for.
var drivers = []string{"sim/internal/controllers", "vppwire/host/kube", "vppwire/host/ipamd"}

// decided are the words by which a driver would do the work of a package's machines: methods of its allocators, and functions
// that decide. Only files that import the package are looked at.
var decided = map[string]string{
	"ipam/calico": "Allocate SetBlocks Assign Release Tend NewBlock",
	"ipam/datastore": "Allocate SetBlocks TooLow TooHigh Excess Grow Spare IPTargetState AddENI AddIPv4CidrToStore DelIPv4CidrFromStore " +
		"RemoveENIFromDataStore RemoveUnusedENI IdleUnits",
	"ipam/cilium": "Allocate AllocateIP AllocateNext AllocateNextFamily ReleaseIP UpsertPool RetireRange Apply Adopt FinishRestore " +
		"Reconcile Restate Needed Excess Allocated Freed Resync Publish Answers StartExpirationTimer StopExpirationTimer Advance " +
		"ReserveLocalRoutes NeededIPCeil CalculateNeededIPs CalculateExcessIPs CalculateRequest NewOperator NewNodeStore NewIPAM",
}

// thinDrivers is the rule by which what clusters run is what the simulator runs.
func thinDrivers() Rule {
	return Rule{
		Name: "thin-drivers",
		Why:  "a driver that decides something is a second writing of the product, which the other driver does not try",
		Check: func(t *Tree) []Finding {
			var found []Finding
			for _, s := range t.Sources {
				if s.Test() || !matchesAny(drivers, s.Folder()) {
					continue
				}
				for path := range s.Imports { //vppdrill:unordered findings are sorted
					words, is := decided[strings.TrimPrefix(path, Module+"/")]
					if is {
						found = append(found, decisions(s, strings.Fields(words))...)
					}
				}
			}
			return found
		},
	}
}

// decisions finds calls of what has one of these names.
func decisions(s Source, names []string) []Finding {
	var found []Finding
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		if f, is := call.Fun.(*ast.SelectorExpr); is {
			for _, name := range names {
				if f.Sel.Name == name {
					found = append(found, s.At(f.Sel.Pos(), "calls %s: a driver performs what a machine of ipam asks for, and calls no allocator", name))
				}
			}
		}
		return true
	})
	return found
}

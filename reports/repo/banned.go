package repo

import (
	"go/ast"
	"strings"
)

// deterministic are the packages whose every decision must come out the same on any machine, at any GOMAXPROCS and with
// the race detector on. Those of outward below them are the exceptions.
var deterministic = []string{
	"ipam/...", "vppwire", "vppwire/mode", "vppwire/policy", "vppwire/service", "vppwire/linkname", "vppwire/strictyaml", "vppwire/agent", "vppwire/agent/nodeid", "sim/...", "scenarios/check", "scenarios/walk/...", "scenarios/gen",
	"scenarios/choice", "scenarios/hostlocal", "scenarios/agentconfig", "scenarios/timeline", "scenarios/podworker",
}

// outward are packages below deterministic ones that face people, processors or sockets.
var outward = []string{"ipam/cmd", "sim/vppmodel/socket", "sim/ec2/endpoint", "sim/parity"}

// isDeterministic reports whether a folder is one of them.
func isDeterministic(folder string) bool {
	return matchesAny(deterministic, folder) && !matchesAny(outward, folder)
}

// bannedImports are packages that a deterministic package must not see at all.
var bannedImports = map[string]string{
	"os":           "files and the environment differ between machines; records are returned, the driver writes them",
	"os/exec":      "a process answers when it likes",
	"os/signal":    "signals arrive when they like",
	"syscall":      "the kernel's state differs between machines",
	"sync":         "a lock means that a second goroutine decides the order",
	"sync/atomic":  "an atomic means that a second goroutine decides the order",
	"crypto/rand":  "every free decision goes through engine.Chooser, so that a seed replays it",
	"net/http":     "the network answers when it likes",
	"math/rand":    "every free decision goes through engine.Chooser, so that a seed replays it",
	"math/rand/v2": "every free decision goes through engine.Chooser, so that a seed replays it",
}

// seedable are packages of bannedImports whose named functions are fine: they make a generator from a given seed.
var seedable = map[string]string{
	"math/rand":    "New NewSource NewZipf Rand Source Zipf",
	"math/rand/v2": "New NewPCG NewChaCha8 NewZipf Rand Source PCG ChaCha8 Zipf",
}

// clockCalls are the functions of package time that read or wait for the wall clock.
const clockCalls = "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker"

func bannedCalls() Rule {
	return Rule{
		Name: "banned-calls",
		Why:  "one look at a clock, a goroutine or a file in a deterministic package and a seed no longer replays a failure",
		Check: func(t *Tree) []Finding {
			var found []Finding
			for _, s := range t.Sources {
				if !s.Test() && isDeterministic(s.Folder()) {
					found = append(found, bannedImportsOf(s)...)
					found = append(found, bannedSyntaxOf(s)...)
				}
			}
			return found
		},
	}
}

func bannedImportsOf(s Source) []Finding {
	var found []Finding
	for path, pos := range s.Imports {
		why, banned := bannedImports[path]
		if _, some := seedable[path]; banned && !some {
			found = append(found, s.At(pos, "imports %s: %s", path, why))
		}
	}
	return found
}

// bannedSyntaxOf finds go and select statements, clock calls and unseeded randomness.
func bannedSyntaxOf(s Source) []Finding {
	var found []Finding
	names := localNames(s)
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, s.At(n.Pos(), "go statement: the scheduler would decide the order"))
		case *ast.SelectStmt:
			found = append(found, s.At(n.Pos(), "select statement: a ready case is picked at random"))
		case *ast.SelectorExpr:
			if f, ok := bannedName(s, names, n); ok {
				found = append(found, f)
			}
		}
		return true
	})
	return found
}

// bannedName judges one package.Name.
func bannedName(s Source, names map[string]string, n *ast.SelectorExpr) (Finding, bool) {
	id, ok := n.X.(*ast.Ident)
	if !ok {
		return Finding{}, false
	}
	path, ok := names[id.Name]
	if !ok {
		return Finding{}, false
	}
	if path == "time" && word(clockCalls, n.Sel.Name) {
		return s.At(n.Pos(), "time.%s: time is an argument here, never read", n.Sel.Name), true
	}
	if fine, ok := seedable[path]; ok && !word(fine, n.Sel.Name) {
		return s.At(n.Pos(), "%s.%s: %s", id.Name, n.Sel.Name, bannedImports[path]), true
	}
	return Finding{}, false
}

// localNames maps the names under which a file knows its imports to their paths. Dot imports are under ".".
func localNames(s Source) map[string]string {
	names := map[string]string{}
	for _, spec := range s.Syntax.Imports {
		path := strings.Trim(spec.Path.Value, "`\"")
		name := path[strings.LastIndex(path, "/")+1:]
		if path == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	return names
}

// word reports whether list, words parted by spaces, has w.
func word(list, w string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == w {
			return true
		}
	}
	return false
}

func noInit() Rule {
	return Rule{
		Name: "no-init",
		Why:  "code that runs because a package was imported cannot be tested, ordered or left out",
		Check: func(t *Tree) []Finding {
			var found []Finding
			for _, s := range t.Sources {
				for _, d := range s.Syntax.Decls {
					if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" && !s.Generated() { // protobuf's register their messages
						found = append(found, s.At(f.Pos(), "func init"))
					}
				}
				for _, spec := range s.Syntax.Imports {
					if spec.Name != nil && spec.Name.Name == "." && !s.Test() {
						found = append(found, s.At(spec.Pos(), "dot import: names must say where they come from"))
					}
				}
			}
			return found
		},
	}
}

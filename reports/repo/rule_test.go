package repo

import (
	"strings"
	"testing"
)

// TestRulesCanFail goal: every rule finds what it is there for and leaves its neighbours alone. Method: tiny trees, each
// with the exact findings that one rule must return.
func TestRulesCanFail(t *testing.T) {
	const doc = "// Package x is.\npackage x\n"
	body := func(imports, code string) string {
		return "package x\n" + imports + "\nfunc f(m map[string]int) {\n" + code + "\n}\n"
	}
	cases := []struct {
		name, rule string
		files      map[string]string
		want       []string
	}{
		{"an arrow the wrong way", "arrows", map[string]string{"ipam/a.go": "package ipam\nimport _ \"" + Module + "/vppwire\"\n"},
			[]string{"ipam/a.go:2: ipam imports vppwire: allocators"}},
		{"an arrow the right way", "arrows", map[string]string{"vppwire/agent/a.go": "package agent\nimport _ \"" + Module + "/ipam\"\n"}, nil},
		{"a test may look anywhere", "arrows", map[string]string{"ipam/a_test.go": "package ipam\nimport _ \"" + Module + "/vppwire\"\n"}, nil},
		{"a folder that nobody planned", "arrows", map[string]string{"stuff/a.go": "package stuff\n"},
			[]string{"stuff/a.go: package stuff has no arrow"}},
		{"sim into lab", "arrows", map[string]string{"sim/a.go": "package sim\nimport _ \"" + Module + "/lab\"\n"},
			[]string{"sim/a.go:2: sim imports lab: the simulator"}},
		{"lab into sim", "arrows", map[string]string{"lab/a.go": "package lab\nimport _ \"" + Module + "/sim\"\n"},
			[]string{"lab/a.go:2: lab imports sim: what a lab"}},

		{"a library importing a command", "private", map[string]string{"lab/a.go": "package lab\nimport _ \"" + Module + "/scenarios/cmd\"\n"},
			[]string{"lab/a.go:2: lab imports scenarios/cmd, which only main may"}},
		{"the program importing what is for tests", "test-only", map[string]string{"scenarios/walk/a.go": "package walk\nimport _ \"" + Module + "/scenarios/internal/clustertest\"\n"},
			[]string{"scenarios/walk/a.go:2"}},
		{"a test importing what is for tests", "test-only", map[string]string{"scenarios/walk/a_test.go": "package walk\nimport _ \"" + Module + "/scenarios/internal/clustertest\"\n"}, nil},
		{"main importing a command", "private", map[string]string{"main.go": "package main\nimport _ \"" + Module + "/scenarios/cmd\"\n"}, nil},

		{"the model through a third package", "model-apart", map[string]string{
			"sim/vppmodel/a.go": "package vppmodel\nimport _ \"" + Module + "/sim/engine\"\n",
			"sim/engine/a.go":   "package engine\nimport _ \"" + Module + "/vppwire/mode\"\n"},
			[]string{"sim/engine/a.go:2: sim/engine imports vppwire/mode, and the modelled VPP gets there"}},

		{"client-go in the agent", "libraries", map[string]string{"vppwire/agent/a.go": "package agent\nimport _ \"k8s.io/client-go/rest\"\n"},
			[]string{"vppwire/agent/a.go:2: vppwire/agent imports k8s.io/client-go/rest: client-go"}},
		{"a library in ipam", "libraries", map[string]string{"ipam/space/a.go": "package space\nimport _ \"go4.org/netipx\"\n"},
			[]string{"ipam/space/a.go:2: ipam imports go4.org/netipx"}},
		{"client-go where it belongs", "libraries", map[string]string{"vppwire/host/a.go": "package host\nimport _ \"k8s.io/client-go/rest\"\n"}, nil},

		{"the wall clock", "banned-calls", map[string]string{"sim/a.go": body(`import wall "time"`, "_ = wall.Now()")},
			[]string{"sim/a.go:4: time.Now"}},
		{"time as a value", "banned-calls", map[string]string{"sim/a.go": body(`import "time"`, "var d time.Duration = time.Second; _ = d")}, nil},
		{"the wall clock in a command", "banned-calls", map[string]string{"ipam/cmd/a.go": body(`import "time"`, "_ = time.Now()")}, nil},
		{"a goroutine and a select", "banned-calls", map[string]string{"ipam/a.go": body("", "go f(m)\nselect {}")},
			[]string{"ipam/a.go:4: go statement", "ipam/a.go:5: select statement"}},
		{"a lock", "banned-calls", map[string]string{"vppwire/a.go": body(`import "sync"`, "var mu sync.Mutex; mu.Lock()")},
			[]string{"vppwire/a.go:2: imports sync: a lock"}},
		{"global randomness", "banned-calls", map[string]string{"sim/a.go": body(`import "math/rand/v2"`, "_ = rand.IntN(3)")},
			[]string{"sim/a.go:4: rand.IntN"}},
		{"seeded randomness", "banned-calls", map[string]string{"sim/a.go": body(`import "math/rand/v2"`, "_ = rand.New(rand.NewPCG(1, 2))")}, nil},

		{"a page of the library", "library", map[string]string{"sim/a.go": "package sim\n", "sim/a_test.go": "package sim\nfunc ExampleRun() {}\n", "sim/internal/b/b.go": "package b\n",
			"docs/library.md": "| `sim` | x | `ExampleRun` of `sim` |\n| `sim` | x | `ExampleStop` of `sim` |\n| `sim/internal/b` | x | |\n| `lab` | x | |\n"},
			[]string{"docs/library.md: lists lab, which is no package", "docs/library.md: lists sim twice",
				"docs/library.md: lists sim/internal/b, which users", "docs/library.md: names ExampleStop of sim"}},
		{"facts with and without a field", "whole-facts", map[string]string{"scenarios/fact/a.go": "package fact\n" +
			"type Leased struct{ Owner, Addr string }\nfunc (Leased) what() {}\ntype Counts struct{ Calls, Writes int }\n" +
			"var _ = []any{Leased{Owner: \"a\", Addr: \"\"}, Leased{\"a\", \"b\"}, Counts{Calls: 1},\nLeased{Owner: \"a\"}}\n"},
			[]string{"scenarios/fact/a.go:6: Leased without Addr"}},
		{"a map in its own order", "map-order", map[string]string{"sim/a.go": body("", "for k := range m { println(k) }")},
			[]string{"sim/a.go:4: range over map m"}},
		{"a map sorted first", "map-order", map[string]string{"sim/a.go": body("import (\n\"maps\"\n\"slices\"\n)",
			"for _, k := range slices.Sorted(maps.Keys(m)) { println(k) }")}, nil},
		{"a map's iterator", "map-order", map[string]string{"sim/a.go": body(`import "maps"`, "for k := range maps.Keys(m) { println(k) }")},
			[]string{"sim/a.go:4: maps.Keys in a visible order"}},
		{"collected, then sorted", "map-order", map[string]string{"sim/a.go": body(`import "slices"`,
			"var ks []string\nfor k, v := range m { if v > 0 { ks = append(ks, k) } }\nslices.Sort(ks)")}, nil},
		{"collected, another slice sorted", "map-order", map[string]string{"sim/a.go": body(`import "slices"`,
			"var ks, other []string\nfor k := range m { ks = append(ks, k) }\nslices.Sort(other)")},
			[]string{"sim/a.go:5: range over map m"}},
		{"steps that commute", "map-order", map[string]string{"sim/a.go": body("",
			"n := 0\nother := map[string]int{}\nfor k, v := range m { other[k] = v; n++; delete(m, k) }")}, nil},
		{"a call inside", "map-order", map[string]string{"sim/a.go": body("", "other := map[string]int{}\nfor k := range m { other[k] = len(other) }")},
			[]string{"sim/a.go:5: range over map m"}},
		{"annotated", "map-order", map[string]string{"sim/a.go": body("", "//vppdrill:unordered the sum is the same\nfor k := range m { println(k) }")}, nil},
		{"annotated without a reason", "map-order", map[string]string{"sim/a.go": body("", "for k := range m { println(k) } //vppdrill:unordered")},
			[]string{"sim/a.go:4: an unordered map range needs a reason"}},
		{"annotated in prose", "map-order", map[string]string{"sim/a.go": body("", "for k := range m { println(k) } // in any order: nobody reads it")}, nil},
		{"collected in a branch, sorted behind it", "map-order", map[string]string{"sim/a.go": body(`import "slices"`,
			"var ks []string\nif len(m) > 1 {\nfor k := range m { ks = append(ks, k) }\n}\nslices.Sort(ks)")}, nil},
		{"an iterator collected and sorted", "map-order", map[string]string{"sim/a.go": body("import (\n\"maps\"\n\"slices\"\n)",
			"ks := slices.Collect(maps.Keys(m))\nslices.Sort(ks)")}, nil},
		{"an iterator collected", "map-order", map[string]string{"sim/a.go": body("import (\n\"maps\"\n\"slices\"\n)",
			"ks := slices.Collect(maps.Keys(m))\nprintln(len(ks))")}, []string{"sim/a.go:7: maps.Keys in a visible order"}},
		{"the element itself", "map-order", map[string]string{"sim/a.go": "package x\ntype e struct{ n int }\nfunc f(m map[string]*e) {\nfor _, v := range m { v.n = 0 }\n}\n"}, nil},
		{"a set of values", "map-order", map[string]string{"sim/a.go": body("", "set := map[int]bool{}\nfor _, v := range m { set[v] = true }")}, nil},
		{"the last one under a value", "map-order", map[string]string{"sim/a.go": body("", "last := map[int]string{}\nfor k, v := range m { last[v] = k }")},
			[]string{"sim/a.go:5: range over map m"}},
		{"a variable outside", "map-order", map[string]string{"sim/a.go": body("", "last := 0\nfor _, v := range m { last = v }\nprintln(last)")},
			[]string{"sim/a.go:5: range over map m"}},
		{"a slice", "map-order", map[string]string{"sim/a.go": body("", "for k := range []int{1} { println(k) }")}, nil},
		{"a file that does not parse", "map-order", map[string]string{"sim/a.go": "package\n"}, []string{"sim/a.go: cannot be judged: does not parse"}},

		{"no package comment", "package-docs", map[string]string{"x/a.go": "package x\n"}, []string{"x: has 0 package comments"}},
		{"two package comments", "package-docs", map[string]string{"x/a.go": doc, "x/b.go": doc}, []string{"x: has 2 package comments"}},
		{"one package comment", "package-docs", map[string]string{"x/a.go": doc, "x/b.go": "package x\n"}, nil},

		{"a driver that decides", "thin-drivers", map[string]string{"sim/internal/controllers/a.go": "package controllers\nimport \"" + Module + "/ipam/cilium\"\nfunc f(p cilium.Pools) { p.Reconcile() }\n"},
			[]string{"sim/internal/controllers/a.go:3: calls Reconcile: a driver performs"}},
		{"a driver that performs", "thin-drivers", map[string]string{"sim/internal/controllers/a.go": "package controllers\nimport \"" + Module + "/ipam/cilium\"\nfunc f(t *cilium.PoolTerm) { t.Step() }\n"}, nil},
		{"an allocator elsewhere", "thin-drivers", map[string]string{"sim/a.go": "package sim\nimport \"" + Module + "/ipam/cilium\"\nfunc f(p cilium.Pools) { p.Reconcile() }\n"}, nil},

		{"an init function", "no-init", map[string]string{"x/a.go": "package x\nfunc init() {}\n"}, []string{"x/a.go:2: func init"}},
		{"a generated init function", "no-init", map[string]string{"x/a.go": "// Code generated by x. DO NOT EDIT.\npackage x\nfunc init() {}\n"}, nil},
		{"a method called init", "no-init", map[string]string{"x/a.go": "package x\ntype t int\nfunc (t) init() {}\n"}, nil},

		{"a drawer", "noun-names", map[string]string{"x/utils.go": "package x\n"}, []string{"x/utils.go: is named after no thing"}},
		{"a noun", "noun-names", map[string]string{"x/lease.go": "package x\n"}, nil},

		{"too long", "file-length", map[string]string{"x/a.go": doc + strings.Repeat("\n", linesMax)}, []string{"x/a.go: has 502 lines"}},
		{"generated and long", "file-length", map[string]string{"x/a.go": "// Code generated by x. DO NOT EDIT.\npackage x\n" + strings.Repeat("\n", linesMax)}, nil},

		{"a workplace", "workplace", map[string]string{"notes.md": "see\n/" + "work/main\n"}, []string{"notes.md:2: names /" + "work/"}},
		{"a word like it", "workplace", map[string]string{"notes.md": "a framework/tool\n"}, nil},

		{"a path that is gone", "true-names", map[string]string{"README.md": "see `sim/gone.go` and [this](sim/x.md)\n", "sim/a.go": doc},
			[]string{"README.md:1: names sim/gone.go, which is not there", "README.md:1: names sim/x.md, which is not there"}},
		{"a path and a symbol", "true-names", map[string]string{"README.md": "`sim/a.go`, `sim/TOPIC`, `x.Here`, `sim.Here`, `time.Second`, `./sim/...`\n", "sim/a.go": "// Package x is here.\npackage x\nfunc Here() {}\n"}, nil},
		{"a symbol that is gone", "true-names", map[string]string{"README.md": "call `x.Gone` or `x.T.Gone` of `GoneType`, `VPPDRILL_GONE`\n", "sim/a.go": "// Package x is here.\npackage x\ntype T struct{ Here int }\n"},
			[]string{"README.md:1: names GoneType, which no source has", "README.md:1: names VPPDRILL_GONE, which no source has", "README.md:1: names x.Gone, which package x does not have", "README.md:1: names x.T.Gone"}},
		{"a make target that is gone", "true-names", map[string]string{"CONTRIBUTING.md": "`make gone` and `make run`\n    make gone  # too\n", "Makefile": "run: ## x\n"},
			[]string{"CONTRIBUTING.md:1: names make gone, which the Makefile does not have", "CONTRIBUTING.md:2: names make gone"}},
		{"a folder of the map that is gone", "true-names", map[string]string{"ARCHITECTURE.md": "    sim/      x\n      gone/   y\n      here/   z\n        deep/ a\n", "sim/here/a.go": doc},
			[]string{"ARCHITECTURE.md:2: names sim/gone, which is not there", "ARCHITECTURE.md:4: names sim/here/deep"}},
		{"a package comment", "true-names", map[string]string{"sim/a.go": "// Package x is here.\n//\n// Start at Gone. The twin is lab/gone. See y.Gone and GoneWord.\npackage x\n", "lab/b.go": "// Package y is.\npackage y\n"},
			[]string{"sim/a.go:1: package comment names Gone, which the package does not have", "sim/a.go:1: package comment names GoneWord", "sim/a.go:1: package comment names lab/gone, which is not there", "sim/a.go:1: package comment names y.Gone"}},

		{"no license", "license", map[string]string{"README.md": "x"}, []string{"LICENSE: the Apache License 2.0 is not there"}},
		{"a license", "license", map[string]string{"LICENSE": "Apache License\nVersion 2.0"}, nil},

		{"a scenario without a goal", "scenario-goals", map[string]string{"scenarios/catalog/vpp/x.yaml": "name: x\n"},
			[]string{"scenarios/catalog/vpp/x.yaml:1: does not open"}},
		{"a scenario with a goal", "scenario-goals", map[string]string{"scenarios/catalog/vpp/x.yaml": "# A reply is lost.\nname: x\n"}, nil},
	}
	tried := map[string]bool{}
	for _, c := range cases {
		tried[c.rule] = tried[c.rule] || c.want != nil
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			got := ruleNamed(t, c.rule).Run(Sketch(c.files))
			if len(got) != len(c.want) {
				t.Fatalf("found %v, want %q", got, c.want)
			}
			for i, f := range got {
				if !strings.HasPrefix(f.String(), c.want[i]) {
					t.Errorf("found %q, want it to start with %q", f, c.want[i])
				}
			}
		})
	}
	for _, r := range Rules() {
		if !tried[r.Name] {
			t.Errorf("rule %s has no case that it must find", r.Name)
		}
		if r.Why == "" {
			t.Errorf("rule %s does not say why", r.Name)
		}
	}
}

func ruleNamed(t *testing.T, name string) Rule {
	t.Helper()
	for _, r := range Rules() {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no rule is called %q", name)
	return Rule{}
}

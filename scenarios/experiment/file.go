package experiment

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// File is an experiment as people write it.
type File struct {
	Name string `yaml:"name" required:"true"`
	// Scenario is a file, relative to the experiment's own folder, or a name of the catalogue.
	Scenario string `yaml:"scenario" required:"true"`
	// Vary are the fields of the scenario that change, each with its levels; no field is one point.
	Vary Axes `yaml:"vary"`
	// Design is "grid", every combination of levels, or "latin N", a Latin hypercube of N points over ranges.
	Design string `yaml:"design"`
	// Seeds is how many seeds each point gets, from 1 on; with Until at least, with Find each level at most.
	Seeds int   `yaml:"seeds" min:"1" max:"1000000"`
	Until Until `yaml:"until"`
	// Measure are the figures that are told, by name.
	Measure []string `yaml:"measure"`
	Find    Find     `yaml:"find"`
	// Against are settings, or results of another run, that each point is compared with. The first is what the others are compared with.
	Against Arms `yaml:"against"`

	// File is the path that was read.
	File string `yaml:"-"`
	at   strictyaml.Positions
}

// Until ends a point's runs by how certain a figure is.
type Until struct {
	Metric string `yaml:"metric" required:"true"`
	// Width is how wide half of the 95 % interval of the mean may be: a number, or "5%" of the mean.
	Width string `yaml:"width" required:"true"`
	// Most ends it in any case.
	Most int `yaml:"most" min:"2" max:"1000000"`
}

// Find looks for where a condition ends, by bisection.
type Find struct {
	// Largest or Smallest is the field whose largest or smallest level is wanted for which Where holds.
	Largest  string `yaml:"largest"`
	Smallest string `yaml:"smallest"`
	// Within are the levels, as of a field that is varied, in ascending order.
	Within string `yaml:"within" required:"true"`
	// Where is what must hold in a run, such as "podsNeverPlaced == 0 and startP99Seconds < 5".
	Where string `yaml:"where" required:"true"`
	// Share is in what share of runs it must hold, with Confidence; Most is how many seeds one level gets at most.
	Share      float64 `yaml:"share" min:"0.01" max:"0.999"`
	Confidence float64 `yaml:"confidence" min:"0.5" max:"0.999"`
	Most       int     `yaml:"most" min:"1" max:"100000"`
	// Seeds, where not 0, is an experiment's own Seeds that somebody gave, in place of Most. Where they are too few for Share and Confidence,
	// a level holds if all of its runs do.
	Seeds int `yaml:"-"`
}

// DefaultFind is a search that says nothing of how certain it wants to be.
func DefaultFind() Find { return Find{Share: 0.9, Confidence: 0.95} }

// Axes are fields with their levels, in the order of the file.
type Axes []Axis

// Arms are what is compared, in the order of the file.
type Arms []Arm

// Arm is one of what is compared: settings, or the folder of another experiment's results.
type Arm struct {
	Name   string
	Values []Value
	// Results is a folder with a store, of any version.
	Results string
}

// Value is a field of a scenario with what it is set to.
type Value struct {
	Field string `json:"field"`
	Text  string `json:"value"`
}

// DefaultMeasure are the figures that are told where nobody says which.
var DefaultMeasure = []string{"podsNeverPlaced", "startP99Seconds", "wastedAddresses", "peakPods"}

// ChangeMeasure are those where a change is rehearsed.
var ChangeMeasure = []string{"podsNeverPlaced", "podsWaited", "startP99Seconds", "longestWaitSeconds", "peakPods", "wastedAddresses", "fill.max", "exhaustedNodes",
	"leakedAddresses", "violations", "apiWrites", "vppCalls"}

// Change makes arms of a planned change: before it, and after.
func Change(values []Value) Arms { return Arms{{Name: "before"}, {Name: "after", Values: values}} }

// SystemMeasure are those where address management systems are compared.
var SystemMeasure = []string{"failed", "violations", "collisions", "leakedAddresses", "apiWrites", "podsWaited", "longestWaitSeconds",
	"podsNeverPlaced", "wastedAddresses", "reused", "shortestReuseSeconds", "shortestReuseLeases"}

// Systems are arms of all address management systems, each with its default mode.
func Systems() Arms {
	var arms Arms
	for _, system := range scenarios.Systems() {
		arm := Arm{Name: string(system.Name), Values: []Value{{Field: "config.ipam.system", Text: string(system.Name)}}}
		c := scenarios.DefaultConfig().IPAM
		if c.System = system.Name; c.OnEC2() { // EC2 has one length of its own
			arm.Values = append(arm.Values, Value{Field: "config.ipam.podSubnetOneNodePrefixLen", Text: "0"})
		}
		arms = append(arms, arm)
	}
	return arms
}

// Default is what an experiment without a file means.
func Default() File {
	return File{Name: "experiment", Design: "grid", Seeds: 10}
}

// SeedsMost is the most of File.Seeds: all runs are laid out before the first.
const SeedsMost = 1_000_000

// Parse reads an experiment's file. The error is a *scenarios.InputError.
func Parse(file string, data []byte) (*File, error) {
	f := Default()
	f.File = file
	f.Find = DefaultFind()
	d := &strictyaml.Decoder{File: file, At: strictyaml.Positions{}}
	d.Special = func(path string, n ast.Node, v reflect.Value) (bool, error) { return special(d, path, n, v) }
	if err := d.Decode(data, "experiment", &f); err != nil {
		return nil, err
	}
	f.at = d.At
	if _, given := f.at["seeds"]; given && f.Find.Where != "" {
		if f.Find.Most > 0 {
			return nil, f.wrong("find.most", "contradicts seeds, which are those of each level; give one of them", "")
		}
		f.Find.Seeds = f.Seeds
	}
	return &f, f.Check()
}

// special reads fields with levels, and arms.
func special(d *strictyaml.Decoder, path string, n ast.Node, v reflect.Value) (bool, error) {
	switch into := v.Addr().Interface().(type) {
	case *Axes:
		entries, err := d.Mapping(path, n)
		for _, e := range entries {
			d.At[strictyaml.Join(path, e.Name)] = d.Place(e.Key)
			text, terr := levelsText(d, strictyaml.Join(path, e.Name), e.Value)
			if terr != nil {
				return true, terr
			}
			*into = append(*into, Axis{Field: e.Name, Levels: text})
		}
		return true, err
	case *Arms:
		entries, err := d.Mapping(path, n)
		for _, e := range entries {
			at := strictyaml.Join(path, e.Name)
			d.At[at] = d.Place(e.Key)
			arm := Arm{Name: e.Name}
			fields, ferr := d.Mapping(at, e.Value)
			if ferr != nil {
				return true, ferr
			}
			for _, x := range fields {
				text, terr := armText(d, strictyaml.Join(at, x.Name), x.Value)
				switch {
				case terr != nil:
					return true, terr
				case x.Name == "results":
					arm.Results = text
				default:
					d.At[strictyaml.Join(at, x.Name)] = d.Place(x.Key)
					arm.Values = append(arm.Values, Value{x.Name, text})
				}
			}
			*into = append(*into, arm)
		}
		return true, err
	}
	return false, nil
}

// levelsText is a list, or one text of levels, as the command line has it.
func levelsText(d *strictyaml.Decoder, path string, n ast.Node) (string, error) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return scalarText(d, path, n)
	}
	var list []string
	for i, x := range seq.Values {
		text, err := scalarText(d, path+"["+strconv.Itoa(i)+"]", x)
		if err != nil {
			return "", err
		}
		list = append(list, text)
	}
	return strings.Join(list, ","), nil
}

// armText is one value, or a list or section in brackets.
func armText(d *strictyaml.Decoder, path string, n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.SequenceNode:
		if n.IsFlowStyle {
			return n.String(), nil
		}
	case *ast.MappingNode:
		if n.IsFlowStyle {
			return n.String(), nil
		}
	default:
		return scalarText(d, path, n)
	}
	return "", d.Fail(path, n, "wants one value, or a list or section in brackets", "")
}

func scalarText(d *strictyaml.Decoder, path string, n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	}
	return "", d.Fail(path, n, "wants one value, or a list of such", "")
}

// wrong makes the error for the field at path.
func (f *File) wrong(path, message, nearest string) error {
	at := f.at.Find(path)
	return &scenarios.InputError{File: f.File, Line: at.Line, Column: at.Column, Field: path, Message: message, Nearest: nearest}
}

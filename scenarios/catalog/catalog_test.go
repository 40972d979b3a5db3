package catalog_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
)

// Goal: every file parses, opens with its goal, is named and labeled by where it lies, comes back from Marshal equal, and
// is small unless labeled slow.
func TestAll(t *testing.T) {
	all, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range all {
		dir, base := path.Split(s.File)
		switch {
		case base != s.Name+".yaml":
			t.Errorf("%s: is named %s", s.File, s.Name)
		case names[s.Name]:
			t.Errorf("%s: another scenario has this name", s.File)
		case len(s.Goal) < 20 || !strings.HasSuffix(s.Goal, "."):
			t.Errorf("%s: goal %q is no sentence", s.File, s.Goal)
		case len(s.Labels) == 0 || s.Labels[0] != path.Base(dir):
			t.Errorf("%s: first label of %v is not its topic", s.File, s.Labels)
		}
		names[s.Name] = true
		if again, err := scenarios.Parse(s.File, s.Marshal()); err != nil || !again.Equal(s) {
			t.Errorf("%s: Marshal wrote another scenario, %v", s.File, err)
		}
		slow := slices.Contains(s.Labels, "slow")
		if !slow && (s.Topology.Nodes > 5 || s.BreakEnd() > 5*time.Minute || s.Topology.Nodes*s.Topology.PodsPerNode > 60) {
			t.Errorf("%s: too large for a scenario that is not labeled slow", s.File)
		}
		if found, err := catalog.ByName(s.Name); err != nil || !found.Equal(s) {
			t.Errorf("ByName(%s): %v", s.Name, err)
		}
	}
	if _, err := catalog.ByName("vpp-restart"); err == nil || !strings.Contains(err.Error(), `"vpp-restarts"`) {
		t.Errorf("ByName of a misspelled name: %v", err)
	}
}

// Goal: the catalogue uses every verb and every kind of fault at least once, so that no part of the language is only
// promised.
func TestCoversLanguage(t *testing.T) {
	all, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{"heal": true} // Run itself heals
	for _, verb := range scenarios.Verbs() {
		unused[verb] = true
	}
	var text strings.Builder
	for _, s := range all {
		text.Write(s.Marshal())
		for _, step := range s.Timeline {
			delete(unused, step.Action.Verb())
		}
	}
	for _, verb := range [...]string{"heal", "kill-plugin", "kill-runtime", "fill-disk", "lose-state"} {
		delete(unused, verb) // the last four are for --cni, where the catalogue's clusters do not run
	}
	for verb := range unused {
		t.Errorf("no scenario does %s", verb)
	}
	var schema struct {
		Properties struct {
			Faults struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(scenarios.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	delete(schema.Properties.Faults.Properties, "asItWas") // the museum's, whose scenarios hold without it
	for fault := range schema.Properties.Faults.Properties {
		if !strings.Contains(text.String(), "\n  "+fault+":") {
			t.Errorf("no scenario uses faults.%s", fault)
		}
	}
}

// Goal: every file is valid by the JSON schema, and the schema refuses what it should. Method: a judge for the part of
// JSON schema that Schema uses.
func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(scenarios.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	judge := &validator{defs: schema["$defs"].(map[string]any)}
	names, err := fs.Glob(os.DirFS("."), "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if problem := judge.document(t, schema, string(data)); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
	for _, bad := range []string{
		"{}", "name: X", "name: x\nnodes: 5", "name: x\ntopology: {nodes: 0}", "name: x\ntopology: {nodes: five}",
		"name: x\nconfig: {wiring: {pod: memif}}", "name: x\ntimeline: [{at: 5, do: settle}]", "name: x\ntimeline: [{do: explode}]",
		"name: x\ntimeline: [{at: 5s, when: settled, do: settle}]", "name: x\ntimeline: [{do: restart-vpp}]", "name: x\nlaws: some",
		"name: x\nfaults: {dropReply: 2}", "name: x\nconfig: {ipam: {podSubnetCIDR: 10.1.0.0}}", "name: x\nduration: -5s",
	} {
		if problem := judge.document(t, schema, bad); problem == "" {
			t.Errorf("the schema accepts %q", bad)
		}
	}
}

// validator judges values by a schema made of the keywords that Schema writes; any other keyword is a problem.
type validator struct{ defs map[string]any }

func (v *validator) document(t *testing.T, schema map[string]any, text string) string {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	value = nil
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return v.check("", schema, value)
}

func (v *validator) check(at string, schema map[string]any, value any) string {
	for keyword, want := range schema {
		if problem := v.keyword(at, schema, keyword, want, value); problem != "" {
			return problem
		}
	}
	return ""
}

func (v *validator) keyword(at string, schema map[string]any, keyword string, want, value any) string {
	no := func(format string, args ...any) string { return at + ": " + fmt.Sprintf(format, args...) }
	text, isText := value.(string)
	number, isNumber := value.(float64)
	list, isList := value.([]any)
	object, isObject := value.(map[string]any)
	switch keyword {
	case "$schema", "$id", "$defs", "title", "description", "default":
	case "$ref":
		return v.check(at, v.defs[strings.TrimPrefix(want.(string), "#/$defs/")].(map[string]any), value)
	case "type":
		_, isBool := value.(bool)
		ok := map[string]bool{"string": isText, "number": isNumber, "integer": isNumber && number == math.Trunc(number), "array": isList,
			"object": isObject, "boolean": isBool}
		if !ok[want.(string)] {
			return no("%v is no %s", value, want)
		}
	case "const":
		if want != value {
			return no("%v is not %v", value, want)
		}
	case "enum":
		if !slices.Contains(want.([]any), value) {
			return no("%v is none of %v", value, want)
		}
	case "pattern":
		if isText && !regexp.MustCompile(want.(string)).MatchString(text) {
			return no("%q does not match %s", text, want)
		}
	case "minimum", "maximum":
		if isNumber && (keyword == "minimum" && number < want.(float64) || keyword == "maximum" && number > want.(float64)) {
			return no("%v: %s is %v", number, keyword, want)
		}
	case "minLength", "maxLength", "minItems", "maxItems":
		n := float64(len(text) + len(list))
		if strings.HasPrefix(keyword, "min") && n < want.(float64) || strings.HasPrefix(keyword, "max") && n > want.(float64) {
			return no("%v: %s is %v", value, keyword, want)
		}
	case "uniqueItems":
	case "required":
		for _, name := range want.([]any) {
			if _, ok := object[name.(string)]; !ok {
				return no("%s is missing", name)
			}
		}
	case "properties":
		for name, s := range want.(map[string]any) {
			if member, ok := object[name]; ok {
				if problem := v.check(at+"."+name, s.(map[string]any), member); problem != "" {
					return problem
				}
			}
		}
	case "additionalProperties":
		known := schema["properties"].(map[string]any)
		for name := range object {
			if _, ok := known[name]; !ok {
				return no("%s is unknown", name)
			}
		}
	case "items":
		for i, item := range list {
			if problem := v.check(fmt.Sprintf("%s[%d]", at, i), want.(map[string]any), item); problem != "" {
				return problem
			}
		}
	case "anyOf", "oneOf":
		fits, last := 0, ""
		for _, s := range want.([]any) {
			if problem := v.check(at, s.(map[string]any), value); problem == "" {
				fits++
			} else {
				last = problem
			}
		}
		if fits == 0 || keyword == "oneOf" && fits != 1 {
			return no("%d alternatives fit; %s", fits, last)
		}
	case "not":
		if v.check(at, want.(map[string]any), value) == "" {
			return no("must not be so")
		}
	default:
		return no("unknown keyword %s", keyword)
	}
	return ""
}

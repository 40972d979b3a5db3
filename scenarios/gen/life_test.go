package gen_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/gen"
)

// words are the words that a field's tag allows.
func words[T any](t *testing.T, field string) []string {
	t.Helper()
	f, ok := reflect.TypeFor[T]().FieldByName(field)
	if !ok || f.Tag.Get("enum") == "" {
		t.Fatalf("no words for %s", field)
	}
	return strings.Split(f.Tag.Get("enum"), ",")
}

// Goal: there is a life for every address management system and way of wiring that a scenario can ask for, each with every step
// whose failure is to be tried. Method: the words that scenario files know, against the lives' names and actions.
func TestLives(t *testing.T) {
	lives := map[string]*scenarios.Scenario{}
	for _, s := range gen.Lives() {
		lives[s.Name] = s
	}
	wanted := 0
	for _, system := range scenarios.SystemNames() {
		for _, pod := range words[scenarios.Wiring](t, "Pod") {
			if pod == string(scenarios.PodNone) {
				continue // there is nothing whose failure could be tried
			}
			for _, node := range words[scenarios.Wiring](t, "Node") {
				for _, host := range words[scenarios.Wiring](t, "Host") {
					wanted++
					name := gen.LifePrefix + strings.Join([]string{system, pod, node, host}, "-")
					s, ok := lives[name]
					if !ok {
						t.Errorf("no %s", name)
						continue
					}
					for _, verbs := range []string{"create-pods", "delete-pods", "gc", "add-node", "remove-node", "change-cidr add-range", "restart-agent", "restart-vpp"} {
						found := false
						for _, step := range s.Timeline {
							found = found || strings.Contains(" "+verbs+" ", " "+step.Action.Verb()+" ")
						}
						if !found {
							t.Errorf("%s has no %s", name, verbs)
						}
					}
				}
			}
		}
	}
	if len(lives) != wanted {
		t.Errorf("%d lives, want %d", len(lives), wanted)
	}
}

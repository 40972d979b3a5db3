package experiment

import (
	"strings"
	"testing"
)

// Goal: every mistake in a file is one line with its place and what would be right. Method: a table of files.
func TestMistakes(t *testing.T) {
	for _, c := range [...]struct{ text, want string }{
		{"vary: {topology.nods: 1..3}", `vary.topology.nods: a scenario has no field "topology.nods"; did you mean "topology.nodes"?`},
		{"vary: {config.ipam: 1}", "vary.config.ipam: config.ipam is a section; vary one of its fields"},
		{"vary: {topology.nodes: []}", "vary.topology.nodes: no levels"},
		{"vary: {topology.nodes: 5..3}", `"5..3" is empty`},
		{"vary: {churn.every: 1s..5s}", `wants a step, such as 1s..5s step 1s`},
		{"vary: {churn.every: 1s..5s step 3}", `"3" is no step of 1s..5s step 3`},
		{"vary: {topology.nodes: 1..3 hop 2}", "a range goes on with step or log"},
		{"vary: {topology.nodes: 1..3}\ndesign: latin", "design: \"latin\" wants a number of points"},
		{"vary: {topology.nodes: 1..3}\ndesign: square", "is neither grid nor latin N"},
		{"measure: [podsWaitd]", `measure[0]: no figure is called "podsWaitd"; did you mean "podsWaited"?`},
		{"until: {metric: podsWaited, width: wide}", `until.width: "wide" is no width above 0`},
		{"find: {largest: topology.nodes, smallest: topology.nodes, within: 1..3, where: podsWaited == 0}", "contradicts find.largest"},
		{"find: {largest: topology.nodes, within: 1..3, where: podsWaited > 3 and podsWaited < 3}", `no podsWaited fulfils`},
		{"find: {largest: topology.nodes, within: 1..3, where: podsWaited}", "is no comparison such as"},
		{"find: {largest: topology.nodes, within: 1..1, where: podsWaited == 0}", "wants two levels"},
		{"find: {largest: topology.nodes, within: 1..3, where: podsWaited == 0, most: 5}", "5 runs can never show that it holds in 90% of them"},
		{"seeds: 50\nfind: {largest: topology.nodes, within: 1..3, where: podsWaited == 0, most: 60}", "find.most: contradicts seeds"},
		{"vary: {topology.nodes: 1..3}\nfind: {largest: topology.nodes, within: 1..3, where: podsWaited == 0}", "topology.nodes is varied too"},
		{"against: {a: {topology.nodes: 1}}", "one of it has nothing to be compared with"},
		{"against: {a: {topology.nodes: 1}, b: {results: x, topology.nodes: 2}}", "has results and settings"},
		{"against: {a: {topology.nods: 1}, b: {}}", `did you mean "topology.nodes"?`},
		{"sedes: 3", `unknown field "sedes"; did you mean "seeds"?`},
	} {
		_, err := Parse("x.yaml", []byte("name: x\nscenario: pods-come-and-go\n"+c.text+"\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.yaml:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// Goal: levels are what a person means. Method: a table.
func TestLevels(t *testing.T) {
	for text, want := range map[string]string{
		"24..28": "24 25 26 27 28", "10..50 step 20": "10 30 50", "1..1000 log 4": "1 10 100 1000", "10s..1m step 25s": "10s 35s 1m",
		"1s..100s log 3": "1s 10s 1m40s", "0.1..0.3 step 0.1": "0.1 0.2 0.3", "a, b,c": "a b c", "20s": "20s", "1..4 log 9": "1 2 3 4",
	} {
		list, err := levels(text)
		if got := strings.Join(list, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

// Goal: a Latin hypercube has one point in each part of each range. Method: its definition.
func TestLatin(t *testing.T) {
	all, err := points("latin 20", []Axis{{"a", "0..2000"}, {"b", "1s..1000s log 2"}, {"c", "x,y"}})
	if err != nil {
		t.Fatal(err)
	}
	parts, words := map[int]bool{}, map[string]int{}
	for _, p := range all {
		x, _ := Number(p[0].Text)
		parts[min(int(x/100), 19)] = true
		words[p[2].Text]++
	}
	if len(all) != 20 || len(parts) < 19 || words["x"] != 10 { // a number at a part's edge rounds into the next
		t.Errorf("%d points in %d parts, %v", len(all), len(parts), words)
	}
}

package experiment

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/experiment"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// world invents figures that follow from the scenario and the seed: larger blocks waste more and make pods wait less.
func world(_ context.Context, s *scenarios.Scenario, seed uint64) (result.Result, error) {
	r := result.Result{Scenario: s.Name, Seed: seed, Verdict: result.Pass}
	size := float64(int(1) << (32 - s.Config.IPAM.PodSubnetOneNodePrefixLen))
	r.Summary.WastedAddresses, r.Summary.StartP99Seconds = size+float64(seed%3), 400/size+float64(seed%4)/10
	r.Summary.PodsNeverPlaced = int64(max(0, s.Topology.Nodes-int(size)/8))
	if seed == 2 {
		r.Verdict, r.Error = result.Fail, "<one> address & two owners"
	}
	r.Series = &result.Series{EverySeconds: 1, Held: []int64{1, 2, 3}, Resting: []int64{0, 0, 1}, Free: []int64{2, 1, 0}, Waiting: []int64{0, 0, 2}, Fill: []float64{0.1, 0.5, 1}}
	return r, nil
}

// written is the page of an experiment.
func written(t *testing.T, text string) string {
	t.Helper()
	f, err := experiment.Parse("x.yaml", []byte("name: x\nscenario: tiny\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse("tiny.yaml", []byte("name: tiny\nduration: 1m\n"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.Plan(s, "v1")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store, err := experiment.OpenStore(dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }() // nothing reads it
	if err := f.Do(t.Context(), &experiment.Engine{Run: world, Jobs: 2, Store: store}, out); err != nil {
		t.Fatal(err)
	}
	var pages [2][]byte
	for i := range pages {
		if err := Write(dir, out); err != nil {
			t.Fatal(err)
		}
		if pages[i], err = os.ReadFile(filepath.Join(dir, "experiment.html")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pages[0], pages[1]) {
		t.Error("the same outcome gives two pages")
	}
	for i := range strings.Count(string(pages[0]), "<svg") { // each plot is a file too
		plot, err := os.ReadFile(filepath.Join(dir, "plots", fmt.Sprintf("%02d.svg", i+1)))
		if err != nil || !strings.Contains(string(pages[0]), string(plot)) {
			t.Errorf("plot %d is not that of the page: %v", i+1, err)
		}
	}
	return strings.ReplaceAll(string(pages[0]), dir, "DIR")
}

// Goal: each kind of experiment gets its plots, and the page asks nobody for anything. Method: what a page must hold, by experiment.
func TestPage(t *testing.T) {
	const prefix = "vary: {config.ipam.podSubnetOneNodePrefixLen: 24..28}\nseeds: 9\n"
	for _, c := range [...]struct {
		text  string
		plots int
		holds []string
	}{
		{prefix, 4 + 1 + 1 + 5, []string{"By config.ipam.podSubnetOneNodePrefixLen", "The knee is point 3", "How long there are free addresses", "vppdrill run DIR/points/001.yaml --seed 2",
			"&lt;one&gt; address &amp; two owners", "5 did not pass"}},
		{prefix + "against: {a: {}, b: {topology.nodes: 8}}\n", 4 + 1 + 1 + 4, []string{"Against a", "p is how often", "the other 6 are left out", "least wastedAddresses"}},
		{"seeds: 9\nmeasure: [wastedAddresses]\nagainst: {before: {config.ipam.podSubnetOneNodePrefixLen: 24}, after: {config.ipam.podSubnetOneNodePrefixLen: 26, \"timeline[+]\": {at: 10s, do: restart-vpp, node: node-1}}}\n", 3,
			[]string{"<h2>before and after</h2>", `data-label="before">257<td data-label="after">65<td data-label="difference">-192<td data-label="interval">[-192, -192]`}},
		{"vary: {config.ipam.podSubnetOneNodePrefixLen: 24..26, topology.nodes: 2..4}\nseeds: 3\nmeasure: [wastedAddresses]\n", 1 + 1 + 1 + 4, []string{"By two fields", "fewer seeds than an interval wants", ">max 257</text>"}},
		{"vary: {config.ipam.reuseDelay: \"0s,10s,2m0s\", topology.nodes: 2..4}\nseeds: 3\nmeasure: [podsNeverPlaced]\n", 1 + 1 + 1 + 3, []string{">2m0s</text>"}}, // the heat map's cells have levels as written
		{prefix + "find: {largest: topology.nodes, within: 1..200, where: podsNeverPlaced == 0}\n", 1, []string{"Frontier", "Found", `<td data-label="holds up to">32<td data-label="not at">33`}},
	} {
		got := written(t, c.text)
		if n := strings.Count(got, "<svg"); n != c.plots {
			t.Errorf("%s: %d plots, want %d", c.text, n, c.plots)
		}
		for _, want := range c.holds {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q", c.text, want)
			}
		}
		for _, ban := range []string{"<script", "src=", "@import", "url("} {
			if strings.Contains(got, ban) {
				t.Errorf("%s: the page has %s", c.text, ban)
			}
		}
	}
}

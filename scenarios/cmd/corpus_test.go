package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: a corpus comes back from its folder with its seeds; what others cover is removed, what was found or put there by hand is not.
func TestCorpusFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "corpus")
	member := func(name, more string, seed uint64) Member {
		s, err := scenarios.Parse(name+".yaml", []byte("# A goal.\nname: "+name+"\n"+more))
		if err != nil {
			t.Fatal(err)
		}
		return Member{Scenario: s, Seed: seed}
	}
	open := func() *corpusFolder {
		t.Helper()
		f, err := openCorpus(dir)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	if len(f.members) != 0 {
		t.Fatalf("%d members of nothing", len(f.members))
	}
	a, b := member("a", "duration: 1m\n", 7), member("b", "duration: 2m\n", 8)
	if err := f.keep([]Member{a, b}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.found("settles", member("c", "duration: 3m\n", 9)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), member("d", "duration: 4m\n", 1).Scenario.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	f = open()
	seeds := map[uint64]bool{}
	for _, m := range f.members {
		if m.Kept != (m.Seed == 9 || m.Seed == 1) {
			t.Errorf("seed %d: kept %v", m.Seed, m.Kept)
		}
		seeds[m.Seed] = true
	}
	if len(seeds) != 4 {
		t.Errorf("seeds %v", seeds)
	}
	if err := f.keep([]Member{a}); err != nil {
		t.Fatal(err)
	}
	if f = open(); len(f.members) != 3 {
		t.Errorf("%d members, want one of two, what was found, and what was put there", len(f.members))
	}
	if err := os.WriteFile(filepath.Join(dir, "wrong.yaml"), []byte("name: [\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openCorpus(dir); err == nil {
		t.Error("a file that is no scenario is taken")
	}
}

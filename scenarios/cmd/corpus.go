package cmd

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// corpusFolder is a folder of scenarios to start a search from: seed-7-1a2b3c4d.yaml came by something new with seed 7,
// found-settles-seed-7-1a2b3c4d.yaml broke a law with it once, and any other scenario was put there by a user and runs
// with seed 1. Only files of the first kind are ever removed, when others cover what they do.
type corpusFolder struct {
	dir     string
	members []Member
	// files are the names of those of the first kind.
	files []string
}

var corpusName = regexp.MustCompile(`^(?:found-.+-)?seed-([0-9]+)-[0-9a-f]{8}\.yaml$`)

// openCorpus reads a folder, which need not be there.
func openCorpus(dir string) (*corpusFolder, error) {
	f := &corpusFolder{dir: dir}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() { // said before an hour of searching
		return nil, cli.Usagef("explore: --corpus %s: it is a file", dir)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml")) // in the order of names
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s, err := scenarios.Load(name)
		if err != nil {
			return nil, err
		}
		m := Member{Scenario: s, Seed: 1, Kept: true}
		base := filepath.Base(name)
		if words := corpusName.FindStringSubmatch(base); words != nil {
			if m.Seed, err = strconv.ParseUint(words[1], 10, 64); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if m.Kept = base[0] == 'f'; !m.Kept {
				f.files = append(f.files, base)
			}
		}
		f.members = append(f.members, m)
	}
	return f, nil
}

// keep makes the folder hold these members, beside those that were found or put there.
func (f *corpusFolder) keep(members []Member) error {
	wanted := map[string]bool{}
	for _, m := range members {
		if m.Kept {
			continue
		}
		name := fileOf("", m)
		wanted[name] = true
		if err := f.write(name, m); err != nil {
			return err
		}
	}
	for _, name := range f.files {
		if wanted[name] {
			continue
		}
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// found writes a member that broke a law and returns its file.
func (f *corpusFolder) found(law string, m Member) (string, error) {
	name := fileOf("found-"+law+"-", m)
	return filepath.Join(f.dir, name), f.write(name, m)
}

// fileOf is a member's file: equal ones have the same.
func fileOf(before string, m Member) string {
	s := *m.Scenario
	s.Name = ""
	h := fnv.New32a()
	_, _ = h.Write(s.Marshal()) // a hash takes everything
	return fmt.Sprintf("%sseed-%d-%08x.yaml", before, m.Seed, h.Sum32())
}

func (f *corpusFolder) write(name string, m Member) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.dir, name), m.Scenario.Marshal(), 0o644)
}

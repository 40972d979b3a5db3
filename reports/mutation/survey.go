package mutation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// unit is a few random runs that are done together: a tenth of a second of processor time.
type unit struct {
	profile string
	// scenario is one of the catalogue, whose run with the seed around is varied; "" for none.
	scenario string
	// from is the first seed.
	from  uint64
	seeds int
	// around is the seed whose scenario is varied; 0: new ones are drawn.
	around uint64
}

// profiles are the kinds of random scenarios that units take in turn, each with its number of seeds.
var profiles = []struct {
	name  string
	seeds int
}{{"small", 1}, {"systems", 1}, {"tiny", 8}}

// unitOf is the n-th unit, from 0.
func unitOf(n uint64) unit {
	p := profiles[n%uint64(len(profiles))]
	return unit{profile: p.name, from: n/uint64(len(profiles))*uint64(p.seeds) + 1, seeds: p.seeds}
}

// surveyed is what a unit does without a fault.
type surveyed struct {
	// Asked holds a 1 for each switch that was asked. A fault whose switch is not asked is not there: the unit's runs are
	// the same with it.
	Asked []byte `json:"asked"`
	// Digest is all its runs' digests in one.
	Digest string `json:"digest"`
	// Runs is how many they are.
	Runs int `json:"runs"`
	// Broken are the failures that it has without a fault, which are not taken for a fault's doing.
	Broken []failure `json:"broken"`
}

func (s *surveyed) asks(number int) bool { return number < len(s.Asked) && s.Asked[number] != 0 }

// usual reports whether a failure is there without a fault.
func (s *surveyed) usual(f failure) bool {
	for _, b := range s.Broken {
		if b == f {
			return true
		}
	}
	return false
}

// surveyMost is how many units are surveyed at most, surveyBlock how many together: two minutes, and four seconds.
const surveyMost, surveyBlock = 1800, 60

// survey knows of each unit what it does without a fault, so that a fault is tried only where its switch is asked. It
// is made as far as somebody wants to know, and kept beside the program.
type survey struct {
	program string
	// sum is the program's SHA-256 in hexadecimal.
	sum string
	// folder keeps the blocks; asked is the file of switches of the block under way.
	folder, asked string
	switches      int

	mu    sync.Mutex
	units []surveyed
}

// newSurvey is the survey of a planted program, with what is kept of it in the folder scratch.
func newSurvey(program, scratch string, switches int) (*survey, error) {
	text, err := os.Open(program)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, text); err != nil {
		return nil, fmt.Errorf("read %s: %w", program, err)
	}
	s := &survey{program: program, sum: hex.EncodeToString(sum.Sum(nil)), switches: switches}
	s.folder = filepath.Join(scratch, "survey-"+s.sum[:16])
	s.asked = filepath.Join(s.folder, "asked")
	return s, os.MkdirAll(s.folder, 0o755)
}

// of is what the n-th unit does without a fault; nil past the last that is surveyed.
func (s *survey) of(ctx context.Context, n uint64) (*surveyed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < surveyMost && uint64(len(s.units)) <= n {
		block, err := s.block(ctx, uint64(len(s.units)))
		if err != nil {
			return nil, err
		}
		s.units = append(s.units, block...)
	}
	if n >= surveyMost {
		return nil, nil
	}
	return &s.units[n], nil
}

// block surveys the units from the first on, unless that was done before.
func (s *survey) block(ctx context.Context, first uint64) ([]surveyed, error) {
	name := filepath.Join(s.folder, fmt.Sprintf("%04d.json", first))
	var block []surveyed
	if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &block) == nil && len(block) == surveyBlock {
		return block, nil
	}
	block = nil
	for n := first; n < first+surveyBlock; n++ {
		u, err := s.unit(ctx, unitOf(n))
		if err != nil {
			return nil, err
		}
		block = append(block, *u)
	}
	text, err := json.Marshal(block)
	if err != nil {
		return nil, err
	}
	return block, os.WriteFile(name, text, 0o644)
}

// keepCatalogue keeps what the catalogue's runs do without a fault.
func (s *survey) keepCatalogue(usual map[string]string) error {
	text, err := json.Marshal(usual)
	if err != nil {
		return err
	}
	return os.WriteFile(s.catalogueFile(), text, 0o644)
}

// catalogue is what keepCatalogue kept.
func (s *survey) catalogue() (usual map[string]string, err error) {
	text, err := os.ReadFile(s.catalogueFile())
	if err != nil {
		return nil, err
	}
	return usual, json.Unmarshal(text, &usual)
}

func (s *survey) catalogueFile() string { return filepath.Join(s.folder, "catalogue.json") }

// unit surveys one unit.
func (s *survey) unit(ctx context.Context, u unit) (*surveyed, error) {
	if err := os.WriteFile(s.asked, make([]byte, s.switches+1), 0o644); err != nil {
		return nil, err
	}
	var none Trial
	r, err := trial{program: s.program, asked: s.asked}.unit(ctx, &none, u, time.Hour)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("without a fault, random runs %s from %d: %s %s", u.profile, u.from, none.Outcome, none.What)
	}
	asked, err := os.ReadFile(s.asked)
	if err != nil {
		return nil, err
	}
	return &surveyed{Asked: asked, Digest: r.Explored.Digest, Runs: r.Explored.Runs, Broken: r.broken()}, nil
}

package journal

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// spoiling lets writes fail that leave so many bytes behind; below 0 none fails. stuck: nothing can be taken away either.
type spoiling struct {
	kept  int
	stuck bool
}

var errSpoiled = errors.New("input/output error")

func (s *spoiling) Write(size int) (int, error) {
	if s.kept < 0 {
		return size, nil
	}
	return min(s.kept, size), errSpoiled
}

func (s *spoiling) Truncate() error {
	if s.stuck {
		return errSpoiled
	}
	return nil
}

// Goal: a write that the disk spoils is told to have failed, whatever it leaves; what follows is as the journal's contract says, and
// another life finds what was told to be there. Method: each way to leave something, between writes that work.
func TestSpoiled(t *testing.T) {
	for name, s := range map[string]spoiling{"nothing": {}, "a part": {kept: 9}, "a part that stays": {kept: 9, stuck: true}, "all": {kept: 1 << 20, stuck: true}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal")
			by := &spoiling{kept: -1}
			j, _, err := OpenSpoiled(path, by)
			if err != nil {
				t.Fatal(err)
			}
			persist := func(e agent.Persist) error {
				told := make(chan error, 1)
				j.Persist(e, func(err error) { told <- err })
				return <-told
			}
			one, two, three := []agent.Record{lease(1)}, []agent.Record{lease(2)}, []agent.Record{lease(1), lease(3)}
			if err := persist(agent.Persist{Seq: 1, Records: one}); err != nil {
				t.Fatal(err)
			}
			*by = s
			if err := persist(agent.Persist{Seq: 2, Records: two}); !errors.Is(err, errSpoiled) {
				t.Errorf("a spoiled write: %v", err)
			}
			*by = spoiling{kept: -1}
			if err := persist(agent.Persist{Seq: 3, Records: two}); !errors.Is(err, ErrRefused) {
				t.Errorf("a write of one who does not know: %v", err)
			}
			if err := persist(agent.Persist{Seq: 4, GivenUp: 3, Replace: true, Records: three}); err != nil {
				t.Errorf("a write of one who knows: %v", err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j, found, err := Open(path)
			if err != nil || len(found) != 2 || j.Found().Damage != nil {
				t.Errorf("found %v, %+v, %v", found, j.Found(), err)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

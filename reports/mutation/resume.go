package mutation

import (
	"fmt"
	"time"
)

// site is what tells a place for a fault from others when lines have moved. Equal ones are told apart by their order.
type site struct{ file, function, kind, before, after string }

func (m *Mutant) site() site { return site{m.File, m.Func, m.Kind, m.Before, m.After} }

// resumed are an interrupted report's trials with the faults of the tree as it is. It must be the same tree.
func resumed(all []*Mutant, former []*Trial) ([]*Trial, error) {
	by := map[site]map[int]*Mutant{} // by line
	for _, m := range all {
		if by[m.site()] == nil {
			by[m.site()] = map[int]*Mutant{}
		}
		by[m.site()][m.Line<<10+m.Column] = m
	}
	trials := make([]*Trial, len(former))
	for i, f := range former {
		m := by[f.site()][f.Line<<10+f.Column]
		if m == nil {
			return nil, fmt.Errorf("the tree has changed since the report was written: there is no %s any more; start a new campaign", f.Place())
		}
		t := *f
		t.Mutant, t.begun = m, f.CPUSeconds > 0
		trials[i] = &t
	}
	return trials, nil
}

// spent is how much processor time a trial has had.
func (m *Trial) spent() time.Duration { return time.Duration(m.CPUSeconds * float64(time.Second)) }

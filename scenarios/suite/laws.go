package suite

import (
	"errors"
	"fmt"
	"strings"

	"github.com/onsi/gomega/types"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// HoldLaws matches a fact.Snapshot that breaks none of the laws, or a result.Result (or a pointer to either) whose run
// broke none of them. Without laws it means all of scenarios/check that can be judged there. A law that was named and
// cannot be judged is an error, never a match: a law about quiet clusters on one that is not quiet, one that watches a
// whole run on a snapshot, one that a run never came to. So is a run that could not be judged at all.
func HoldLaws(laws ...fact.Law) types.GomegaMatcher { return &holdLaws{laws: laws} }

type holdLaws struct {
	laws []fact.Law
	// subject, judged and broken are what the last Match found.
	subject string
	judged  []string
	broken  string
}

// Match implements types.GomegaMatcher.
func (m *holdLaws) Match(actual any) (bool, error) {
	m.judged, m.broken = nil, ""
	var err error
	switch a := actual.(type) {
	case result.Result:
		err = m.result(&a)
	case *result.Result:
		if a == nil {
			return false, errors.New("HoldLaws got no result")
		}
		err = m.result(a)
	default:
		s, wrong := snapshotOf("HoldLaws", actual)
		if wrong != nil {
			return false, fmt.Errorf("%w; nor a result.Result", wrong)
		}
		err = m.snapshot(s)
	}
	return err == nil && m.broken == "", err
}

// snapshot judges a snapshot by each law, up to the first that is broken.
func (m *holdLaws) snapshot(s fact.Snapshot) error {
	m.subject = "the snapshot at " + scenarios.FormatDuration(s.At)
	laws, named := m.laws, true
	if len(laws) == 0 {
		laws, named = check.All(), false
	}
	for _, law := range laws {
		why := ""
		switch {
		case law.Check == nil || law.Name == result.LawSettles:
			why = "judges a whole run and no snapshot"
		case law.When == fact.Settled && !s.Settled:
			why = "judges quiet clusters, and " + m.subject + " is not of one; see BeQuiet"
		}
		if why != "" {
			if named {
				return fmt.Errorf("law %s %s", law.Name, why)
			}
			continue
		}
		occasions, err := law.Check(s)
		if occasions == 0 && err == nil {
			if named {
				return fmt.Errorf("law %s found nothing to judge in %s", law.Name, m.subject)
			}
			continue
		}
		m.judged = append(m.judged, law.Name)
		if err != nil {
			v := &fact.Violation{Law: law.Name, At: s.At, What: err.Error()}
			errors.As(err, &v)
			var b block
			b.violation(law, v)
			m.broken = b.String()
			return nil
		}
	}
	if len(m.judged) == 0 {
		return fmt.Errorf("no law judges %s", m.subject)
	}
	return nil
}

// result looks up how each law fared in a run.
func (m *holdLaws) result(r *result.Result) error {
	m.subject = fmt.Sprintf("the run of %s with seed %d", r.Scenario, r.Seed)
	if r.Verdict == result.Error {
		return errors.New(describe(r))
	}
	fared := map[string]result.LawResult{}
	for _, law := range r.Laws {
		fared[law.Name] = law
		if len(m.laws) == 0 && law.Status != result.NotJudgedStatus && !law.Idle() {
			m.judged = append(m.judged, law.Name)
		}
	}
	for _, law := range m.laws {
		m.judged = append(m.judged, law.Name)
		switch f, ok := fared[law.Name]; {
		case !ok:
			return fmt.Errorf("law %s did not judge %s", law.Name, m.subject)
		case f.Status == result.NotJudgedStatus:
			return fmt.Errorf("law %s in %s: %s", law.Name, m.subject, f.StatusText())
		case f.Idle():
			return fmt.Errorf("law %s found nothing to judge in %s", law.Name, m.subject)
		}
	}
	if len(m.judged) == 0 {
		return fmt.Errorf("no law judged %s", m.subject)
	}
	for _, name := range m.judged {
		if fared[name].Violations > 0 {
			m.broken = "law " + name + " is broken"
			if r.Failure != nil && r.Failure.Law == name {
				m.broken = describe(r)
			}
			return nil
		}
	}
	return nil
}

// FailureMessage implements types.GomegaMatcher.
func (m *holdLaws) FailureMessage(any) string {
	return fmt.Sprintf("expected %s to hold its laws, but\n%s", m.subject, m.broken)
}

// NegatedFailureMessage implements types.GomegaMatcher.
func (m *holdLaws) NegatedFailureMessage(any) string {
	return fmt.Sprintf("expected %s to break a law, but it holds %s", m.subject, strings.Join(m.judged, ", "))
}

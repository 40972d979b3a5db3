package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onsi/gomega/types"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// BeQuiet matches a result.World that comes to rest within a time of its own, and lets that time pass in it: virtual in
// the simulator, where an hour costs next to nothing, real in a lab. Afterwards the World is quiet, or the time is
// over. Use it with Expect and never with Eventually, which waits by the wall clock for a World that stands still
// meanwhile; Eventually gives up after the first look.
//
// A law that breaks on the way is an error, in whatever the World was expected to be.
func BeQuiet(within time.Duration) types.GomegaMatcher { return &beQuiet{within: within} }

type beQuiet struct {
	within        time.Duration
	world         string
	before, after time.Duration
	pending       error
}

// Match implements types.GomegaMatcher.
func (m *beQuiet) Match(actual any) (bool, error) {
	w, ok := actual.(result.World)
	if !ok || w == nil {
		return false, fmt.Errorf("BeQuiet wants a result.World, not %T", actual)
	}
	if m.within < 0 {
		return false, fmt.Errorf("BeQuiet within %s: time does not go back", m.within)
	}
	m.world, m.before = w.Name(), w.Now()
	m.pending = w.Settle(context.Background(), m.within)
	m.after = w.Now()
	if v := (*fact.Violation)(nil); errors.As(m.pending, &v) {
		return false, m.pending
	}
	return m.pending == nil, nil
}

// MatchMayChangeInTheFuture implements types.OracleMatcher: time passes in a World by Match and not beside it.
func (m *beQuiet) MatchMayChangeInTheFuture(any) bool { return false }

// FailureMessage implements types.GomegaMatcher.
func (m *beQuiet) FailureMessage(any) string {
	return fmt.Sprintf("expected world %s to be quiet within %s from %s on, but at %s there is pending:\n    %s", m.world,
		scenarios.FormatDuration(m.within), scenarios.FormatDuration(m.before), scenarios.FormatDuration(m.after), m.pending)
}

// NegatedFailureMessage implements types.GomegaMatcher.
func (m *beQuiet) NegatedFailureMessage(any) string {
	return fmt.Sprintf("expected world %s not to be quiet within %s from %s on, but it was at %s", m.world,
		scenarios.FormatDuration(m.within), scenarios.FormatDuration(m.before), scenarios.FormatDuration(m.after))
}

package fault

import (
	"math"
	"strconv"
	"time"
)

// Verdict says what happens to an operation. The zero Verdict lets it happen.
type Verdict struct {
	Action Action
	// Delay is how much later than usual the operation happens, for Delay.
	Delay time.Duration
	// Code is the error that a refused operation answers with: a VPP retval for dataplane calls, else what the
	// component makes of it.
	Code int32
}

// Action is a kind of Verdict.
type Action uint8

// What may happen to an operation.
const (
	// Pass: it happens.
	Pass Action = iota
	// Refuse: it does not happen and answers with an error.
	Refuse
	// Vanish: the request is lost; it does not happen and does not answer.
	Vanish
	// Mute: it happens and the answer is lost.
	Mute
	// Delay: it happens later.
	Delay
	// Duplicate: it happens twice in a row; the second answer counts.
	Duplicate
	// CrashBefore: the actor dies before the operation happens.
	CrashBefore
	// CrashAfter: the actor dies after the operation has happened, before its answer.
	CrashAfter
	// Compact: a store forgets its history before it happens; it happens all the same.
	Compact
	// PowerLoss: the machine that writes to its disk loses power while it does, so that the write may be there or not, and
	// boots again. Operations that write to no disk pass.
	PowerLoss
	actionEnd
)

var actionWords = [actionEnd]string{
	Pass: "Pass", Refuse: "Refuse", Vanish: "Vanish", Mute: "Mute", Delay: "Delay", Duplicate: "Duplicate",
	CrashBefore: "CrashBefore", CrashAfter: "CrashAfter", Compact: "Compact", PowerLoss: "PowerLoss",
}

func (a Action) String() string {
	if a < actionEnd {
		return actionWords[a]
	}
	return "action(" + strconv.Itoa(int(a)) + ")"
}

// String is the injector that always gives this verdict: Mute, (Refuse -68), (Delay 20ms).
func (v Verdict) String() string { return string(v.AppendText(nil)) }

// AppendText appends what String returns.
func (v Verdict) AppendText(b []byte) []byte {
	switch v.Action {
	case Refuse:
		b = append(b, "(Refuse "...)
		b = strconv.AppendInt(b, int64(v.Code), 10)
		return append(b, ')')
	case Delay:
		b = append(b, "(Delay "...)
		b = append(b, spell(v.Delay)...)
		return append(b, ')')
	default:
		return append(b, v.Action.String()...)
	}
}

// Judge makes a Verdict the Injector that always gives it.
func (v Verdict) Judge(Op) Verdict { return v }

// Always returns the injector that gives v to every operation it is asked about.
func Always(v Verdict) Injector { return v }

// verdict reads a verdict that is its word alone.
func verdict(a Action) func(*parser) (Injector, error) {
	return func(*parser) (Injector, error) { return Verdict{Action: a}, nil }
}

func parseRefuse(p *parser) (Injector, error) {
	code, err := p.integer(math.MinInt32, math.MaxInt32)
	return Verdict{Action: Refuse, Code: int32(code)}, err
}

func parseDelay(p *parser) (Injector, error) {
	d, err := p.duration()
	return Verdict{Action: Delay, Delay: d}, err
}

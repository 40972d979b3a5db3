package experiment

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Axis is a field that is varied. Levels is a list, "20s,1m,5m", or a range of numbers or durations: "24..28", "10..50 step 10",
// "1..1000 log 4" for so many levels of equal ratio.
type Axis struct {
	Field  string `json:"field"`
	Levels string `json:"levels"`
}

// levelsMost bounds a range, so that a slip of the finger does not run for weeks.
const levelsMost = 10000

// span is a range of levels.
type span struct {
	from, to float64
	unit     unit
	step     float64
	// log is how many levels of equal ratio there are; 0: of equal distance.
	log int
}

// unit is how a number is written.
type unit uint8

const (
	whole unit = iota
	fraction
	duration // in seconds
)

// text writes a number so that a scenario reads it.
func (u unit) text(x float64) string {
	switch u {
	case whole:
		return strconv.FormatInt(int64(math.Round(x)), 10)
	case duration:
		return scenarios.FormatDuration(time.Duration(math.Round(x*1000)) * time.Millisecond)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// number reads a number or a duration.
func number(text string) (x float64, u unit, ok bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return float64(n), whole, true
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return x, fraction, true
	}
	if d, err := scenarios.ParseDuration(text); err == nil {
		return d.Seconds(), duration, true
	}
	return 0, 0, false
}

// readSpan reads a range; ok is false for a list.
func readSpan(text string) (s span, ok bool, err error) {
	low, rest, ok := strings.Cut(text, "..")
	if !ok {
		return span{}, false, nil
	}
	high, how, _ := strings.Cut(strings.TrimSpace(rest), " ")
	from, u, okFrom := number(low)
	to, u2, okTo := number(high)
	if !okFrom || !okTo || (u == duration) != (u2 == duration) {
		return span{}, true, fmt.Errorf("%q is no range of numbers or durations such as 24..28 or 10s..1m", text)
	}
	s = span{from: from, to: to, unit: max(u, u2), step: 1}
	word, count, _ := strings.Cut(strings.TrimSpace(how), " ")
	count = strings.TrimSpace(count)
	switch word {
	case "":
		if s.unit != whole {
			return s, true, fmt.Errorf("%q wants a step, such as %s step %s, or log 5", text, strings.TrimSpace(text), s.unit.text((to-from)/4))
		}
	case "step":
		x, su, ok := number(count)
		if !ok || x <= 0 || (su == duration) != (s.unit == duration) {
			return s, true, fmt.Errorf("%q is no step of %s", count, text)
		}
		s.step, s.unit = x, max(s.unit, su)
	case "log":
		n, err := strconv.Atoi(count)
		if err != nil || n < 2 || n > levelsMost || from <= 0 {
			return s, true, fmt.Errorf("%q wants log and a number of levels from 2 on, and a beginning above 0", text)
		}
		s.log = n
	default:
		return s, true, fmt.Errorf("%q: a range goes on with step or log, not %q", text, word)
	}
	if from > to {
		return s, true, fmt.Errorf("%q is empty: it ends before it begins", text)
	}
	return s, true, nil
}

// list are the levels in order.
func (s span) list() ([]string, error) {
	var out []string
	if s.log > 0 {
		for i := range s.log {
			text := s.unit.text(s.at(float64(i) / float64(s.log-1)))
			if len(out) == 0 || out[len(out)-1] != text {
				out = append(out, text)
			}
		}
		return out, nil
	}
	if (s.to-s.from)/s.step > levelsMost {
		return nil, fmt.Errorf("more than %d levels; give a longer step", levelsMost)
	}
	for i := 0; s.from+float64(i)*s.step <= s.to+s.step*1e-9; i++ {
		out = append(out, s.unit.text(s.from+float64(i)*s.step))
	}
	return out, nil
}

// at is the number at a share of the range, 0 to 1.
func (s span) at(share float64) float64 {
	if s.log > 0 {
		return s.from * math.Pow(s.to/s.from, share)
	}
	return s.from + share*(s.to-s.from)
}

// Number reads a level that is a number or a duration, in seconds.
func Number(text string) (float64, bool) {
	x, _, ok := number(text)
	return x, ok
}

// levels are an axis' levels in order.
func levels(text string) ([]string, error) {
	s, isSpan, err := readSpan(text)
	if err != nil {
		return nil, err
	}
	if isSpan {
		return s.list()
	}
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no levels")
	}
	return out, nil
}

package explore

import (
	"reflect"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// cutTail ends the scenario soon after the failure.
func (k *shrinker) cutTail() {
	at := seconds(k.result.Failure.AtSeconds)
	end := (at + time.Second - 1).Truncate(time.Second)
	if end >= k.best.BreakEnd() {
		return
	}
	k.change(func(s *scenarios.Scenario) {
		for i, step := range s.Timeline {
			if step.Trigger == scenarios.AtTime && step.Time > end {
				s.Timeline = s.Timeline[:i]
				break
			}
		}
		s.Duration = max(end, time.Second)
		s.Churn.Until = min(s.Churn.Until, s.Duration)
	})
}

// dropSteps takes out items of the timeline.
func (k *shrinker) dropSteps() {
	cut(k, k.best.Timeline, func(s *scenarios.Scenario, keep []scenarios.Step) { s.Timeline = keep })
}

// waitForQuiet lets items wait for a quiet cluster instead of a time: the first thing that a person would try.
func (k *shrinker) waitForQuiet() {
	quiet := func(step *scenarios.Step) { step.Trigger, step.Time = scenarios.WhenSettled, 0 }
	timed := false
	for _, step := range k.best.Timeline {
		timed = timed || step.Trigger != scenarios.WhenSettled
	}
	if !timed || k.change(func(s *scenarios.Scenario) {
		for i := range s.Timeline {
			quiet(&s.Timeline[i])
		}
	}) {
		return
	}
	for i := range k.best.Timeline {
		if k.best.Timeline[i].Trigger != scenarios.WhenSettled {
			k.change(func(s *scenarios.Scenario) { quiet(&s.Timeline[i]) })
		}
	}
}

// shortenTimes makes the gaps between items short, first all at once.
func (k *shrinker) shortenTimes() {
	for k.change(func(s *scenarios.Scenario) {
		for i := range s.Timeline {
			s.Timeline[i].Time = (s.Timeline[i].Time / 2).Round(time.Second)
		}
	}) {
	}
	for i := range k.best.Timeline {
		gap := k.best.Timeline[i].Time
		if k.best.Timeline[i].Trigger == scenarios.AtTime {
			gap -= timeBefore(k.best, i)
		}
		k.least(0, int((gap+time.Second-1)/time.Second), func(s *scenarios.Scenario, n int) { setGap(s, i, time.Duration(n)*time.Second) })
	}
}

// timeBefore is the last absolute time before item i, 0 without any.
func timeBefore(s *scenarios.Scenario, i int) time.Duration {
	for i--; i >= 0; i-- {
		if s.Timeline[i].Trigger == scenarios.AtTime {
			return s.Timeline[i].Time
		}
	}
	return 0
}

// setGap moves item i, and with it all that have absolute times after it.
func setGap(s *scenarios.Scenario, i int, gap time.Duration) {
	if s.Timeline[i].Trigger != scenarios.AtTime {
		s.Timeline[i].Time = gap
		return
	}
	shift := timeBefore(s, i) + gap - s.Timeline[i].Time
	for ; i < len(s.Timeline); i++ {
		if s.Timeline[i].Trigger == scenarios.AtTime {
			s.Timeline[i].Time += shift
		}
	}
}

// shortenEnd makes the break phase short: not longer than its items at best.
func (k *shrinker) shortenEnd() {
	if k.best.Duration == 0 || k.change(func(s *scenarios.Scenario) { s.Duration = 0 }) {
		return
	}
	k.least(1, int((k.best.Duration+time.Second-1)/time.Second), func(s *scenarios.Scenario, n int) {
		s.Duration = time.Duration(n) * time.Second
		s.Churn.Until = min(s.Churn.Until, s.Duration)
	})
}

// plainActions makes each item's arguments plain: a node's name instead of any or all, one instead of many, short
// times, no switches; and makes it compulsory.
func (k *shrinker) plainActions() {
	for i := range k.best.Timeline {
		if k.best.Timeline[i].Optional {
			k.change(func(s *scenarios.Scenario) { s.Timeline[i].Optional = false })
		}
		action := reflect.TypeOf(k.best.Timeline[i].Action)
		for field := range action.NumField() {
			k.plainArgument(i, field)
		}
	}
}

// argument is a field of the action of item i.
func (k *shrinker) argument(i, field int) reflect.Value {
	return reflect.ValueOf(k.best.Timeline[i].Action).Field(field)
}

// setArgument tries another value of an argument.
func (k *shrinker) setArgument(i, field int, value any) bool {
	a := reflect.New(reflect.TypeOf(k.best.Timeline[i].Action)).Elem()
	a.Set(reflect.ValueOf(k.best.Timeline[i].Action))
	a.Field(field).Set(reflect.ValueOf(value).Convert(a.Field(field).Type()))
	action := a.Interface().(scenarios.Action)
	if _, err := scenarios.ParseAction(action.String()); err != nil {
		return false
	}
	return k.change(func(s *scenarios.Scenario) { s.Timeline[i].Action = action })
}

func (k *shrinker) plainArgument(i, field int) {
	switch v := k.argument(i, field).Interface().(type) {
	case scenarios.NodeRef:
		if v == scenarios.AnyNode || v == scenarios.AllNodes {
			k.oneOf(i, field, nodeNames(k.best))
		}
	case [2]scenarios.Endpoint:
		for end := range v {
			for _, name := range nodeNames(k.best) {
				other := v
				other[end] = scenarios.Endpoint(name)
				if v[end] != scenarios.Endpoint(scenarios.AnyNode) || k.setArgument(i, field, other) {
					break
				}
			}
		}
	case time.Duration:
		for _, d := range [...]time.Duration{time.Second, 10 * time.Second, time.Minute} {
			if v <= d || k.setArgument(i, field, d) {
				break
			}
		}
	case int:
		for _, n := range [...]int{1, v / 2} {
			if v <= n || n < 1 || k.setArgument(i, field, n) {
				break
			}
		}
	case bool:
		if v {
			k.setArgument(i, field, false)
		}
	case string:
		if v != "" && reflect.TypeOf(k.best.Timeline[i].Action).Field(field).Name == "App" {
			k.setArgument(i, field, "")
		}
	}
}

// nodesTried bounds how many names are tried in place of "any".
const nodesTried = 5

func (k *shrinker) oneOf(i, field int, names []string) {
	slices.Reverse(names) // a failure more often sits on a later node: the first ones come up quietly
	for _, name := range names[max(0, len(names)-nodesTried):] {
		if k.setArgument(i, field, name) {
			return
		}
	}
}

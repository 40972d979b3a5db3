package fault

import (
	"fmt"
	"math"
	"strconv"
)

type counting uint8

const (
	countNth counting = iota
	countFirst
	countAfter
)

// count lets through some of the verdicts of the injector inside, by their number.
type count struct {
	which counting
	n     int
	seen  int
	inner Injector
}

// Nth is i for the nth operation, from 1, that i would not pass, and passes every other one.
func Nth(n int, i Injector) Injector { return newCount(countNth, n, 1, i) }

// First is i for the first n operations, n >= 1, that i would not pass.
func First(n int, i Injector) Injector { return newCount(countFirst, n, 1, i) }

// After is i for all operations that i would not pass but the first n, n >= 0.
func After(n int, i Injector) Injector { return newCount(countAfter, n, 0, i) }

func parseNth(p *parser) (Injector, error)   { return p.counted(1, Nth) }
func parseFirst(p *parser) (Injector, error) { return p.counted(1, First) }
func parseAfter(p *parser) (Injector, error) { return p.counted(0, After) }

func (p *parser) counted(least int64, make func(int, Injector) Injector) (Injector, error) {
	n, err := p.integer(least, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	return p.around(func(i Injector) Injector { return make(int(n), i) })
}

func newCount(which counting, n, least int, i Injector) Injector {
	if n < least {
		panic(fmt.Sprintf("fault: count of %d, below %d", n, least))
	}
	return &count{which: which, n: n, inner: i}
}

func (c *count) Judge(op Op) Verdict {
	if c.which != countAfter && c.seen == c.n {
		return Verdict{}
	}
	v := c.inner.Judge(op)
	if v.Action == Pass {
		return v
	}
	if c.which == countAfter && c.seen == c.n {
		return v
	}
	c.seen++
	if c.which == countFirst || c.which == countNth && c.seen == c.n {
		return v
	}
	return Verdict{}
}

func (c *count) String() string {
	word := [...]string{countNth: "Nth", countFirst: "First", countAfter: "After"}[c.which]
	return "(" + word + " " + strconv.Itoa(c.n) + " " + c.inner.String() + ")"
}

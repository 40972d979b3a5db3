package fault

import (
	"cmp"
	"slices"
)

// Census is the injector that passes every operation and counts them. After a quiet run its count is the number of
// places for a fault: (Nth 1 CrashAfter) to (Nth Total CrashAfter). Its text is "Census". Use NewCensus.
type Census struct {
	total  int
	counts map[censusKey]*int
}

type censusKey struct {
	kind OpKind
	name string
}

// CensusLine says how many operations of one kind and name there were.
type CensusLine struct {
	Kind  OpKind
	Name  string
	Count int
}

// NewCensus returns a Census that has seen nothing.
func NewCensus() *Census { return &Census{counts: make(map[censusKey]*int)} }

func parseCensus(*parser) (Injector, error) { return NewCensus(), nil }

// Judge counts.
func (c *Census) Judge(op Op) Verdict {
	c.total++
	key := censusKey{op.Kind, op.Name}
	n := c.counts[key]
	if n == nil {
		n = new(int)
		c.counts[key] = n
	}
	*n++
	return Verdict{}
}

func (c *Census) String() string { return "Census" }

// Total counts all operations.
func (c *Census) Total() int { return c.total }

// Count is the number of operations of one kind and name.
func (c *Census) Count(kind OpKind, name string) int {
	if n := c.counts[censusKey{kind, name}]; n != nil {
		return *n
	}
	return 0
}

// Lines lists the counts by kind, then name.
func (c *Census) Lines() []CensusLine {
	lines := make([]CensusLine, 0, len(c.counts))
	for k, n := range c.counts {
		lines = append(lines, CensusLine{Kind: k.kind, Name: k.name, Count: *n})
	}
	slices.SortFunc(lines, func(a, b CensusLine) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return lines
}

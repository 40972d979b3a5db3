package repo

import (
	"cmp"
	"fmt"
	"slices"
)

// Rule is one property that the whole tree has.
type Rule struct {
	// Name is lower case words joined by hyphens; it names the subtest.
	Name string
	// Why is one sentence: what goes wrong for a user or the next author when the rule is broken.
	Why string
	// Check returns every place that breaks the rule, in any order.
	Check func(*Tree) []Finding
}

// Finding is one place that breaks a rule.
type Finding struct {
	// Path is relative to the repository's root, with slashes.
	Path string
	// Line counts from 1; 0 means the file or folder as a whole.
	Line int
	// What is one sentence with the offending words.
	What string
}

// String is "path:line: what", the form that editors jump to.
func (f Finding) String() string {
	if f.Line == 0 {
		return f.Path + ": " + f.What
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.What)
}

// Rules returns every rule, in the order in which the tests run them.
func Rules() []Rule {
	rules := []Rule{
		bannedCalls(),
		mapOrder(),
		packageDocs(),
		thinDrivers(),
		wholeFacts(),
		libraryNamed(),
		noInit(),
		nounNames(),
		fileLength(),
		workplaceWords(),
		license(),
		scenarioGoals(),
		trueNames(),
	}
	return append(arrowRules(), rules...)
}

// Run applies a rule and returns its findings in path and line order.
func (r Rule) Run(t *Tree) []Finding {
	found := r.Check(t)
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What))
	})
	return found
}

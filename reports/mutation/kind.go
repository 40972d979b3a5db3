package mutation

// Kind is one kind of fault that people make.
type Kind struct {
	// Name is lower case words joined by hyphens.
	Name string
	// Why is one sentence: how such a fault comes about.
	Why string
	// find plants the kind's faults at one node of a product's function.
	find func(c *cursor)
}

// kinds are all kinds, in the order of reports.
var kinds = []Kind{
	{"comparison-negated", "a condition is written the wrong way round", negated},
	{"comparison-dropped", "one of the conditions that must all hold, or of those that each suffice, is forgotten", dropped},
	{"off-by-one", "a bound is taken in where it is out, or one is not added", offByOne},
	{"order-swapped", "of two things that must happen in an order, the second is done first", swapped},
	{"error-swallowed", "an error is not looked at, or not passed on", swallowed},
	{"wait-removed", "what must be waited for is not: the early return of a guard is missing, or a time counts as over", unwaited},
	{"wrong-key", "a neighbour's name stands where the right one belongs: a key, an argument, a field", wrongKey},
	{"update-dropped", "a field or a table keeps what it held before: a stale cache", stale},
	{"call-dropped", "a step is forgotten", uncalled},
	{"branch-dropped", "a case that must be handled is not", unhandled},
	{"wrong-branch", "the other branch is taken", wrongBranch},
	{"loop-cut", "of several things only the first is handled", cut},
	{"flag-flipped", "true is said where false is meant", flipped},
}

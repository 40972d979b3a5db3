package mutation

import (
	"bytes"
	"cmp"
	"slices"
)

// edit replaces text[from:to]; an edit without length inserts.
type edit struct {
	from, to int
	text     string
	// An insertion is one half of a pair that goes around something: span is how long that is, closing says which half it
	// is, inner that the pair stands inside of others around the same thing.
	span    int
	closing bool
	inner   bool
	// pair numbers the pairs of one file.
	pair int
}

// around puts text before and behind text[from:to].
func around(from, to int, before, behind string) []edit {
	return []edit{
		{from: from, to: from, text: before, span: to - from},
		{from: to, to: to, text: behind, span: to - from, closing: true},
	}
}

// apply makes all edits at once. Those at one place nest as what they go around does; replacements do not overlap.
func apply(text []byte, edits []edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, before)
	var out bytes.Buffer
	done := 0
	for _, e := range edits {
		out.Write(text[done:e.from])
		out.WriteString(e.text)
		done = e.to
	}
	out.Write(text[done:])
	return out.Bytes()
}

// before orders two edits of one file. At one place everything is closed before anything is opened; the shorter span
// closes first and opens last.
func before(a, b edit) int {
	if c := cmp.Compare(a.from, b.from); c != 0 {
		return c
	}
	if a.closing != b.closing {
		if a.closing {
			return -1
		}
		return 1
	}
	outer := cmp.Or(cmp.Compare(b.span, a.span), order(a.inner, b.inner), cmp.Compare(a.pair, b.pair))
	if a.closing {
		return -outer
	}
	return outer
}

// order puts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

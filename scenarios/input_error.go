package scenarios

import (
	"strconv"
	"strings"
)

// InputError says what is wrong with a file that people wrote, where, and which valid word is nearest.
type InputError struct {
	// File is as given; empty for input that came from no file.
	File string
	// Line and Column count from 1; 0 where the place is not known (a Scenario built in Go).
	Line, Column int
	// Field is the path of the field: config.ipam.podSubnetCIDR, timeline[2].node.
	Field string
	// Message is one sentence without a full stop.
	Message string
	// Nearest is the valid word or value nearest to a wrong one; empty when none is near.
	Nearest string
}

// Error is one line: file.yaml:12:5: config.ipam.podSubnetCIDR: "10.1.0.0/33" is not a prefix.
func (e *InputError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			b.WriteString(":" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(max(e.Column, 1)))
		}
		b.WriteString(": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(oneLine(e.Message))
	if e.Nearest != "" {
		b.WriteString("; did you mean " + strconv.Quote(e.Nearest) + "?")
	}
	return b.String()
}

// oneLine replaces line breaks, so that an error stays one line whatever the input held.
func oneLine(text string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text)
}

// position is a place in a file, both counted from 1.
type position struct{ line, column int }

// positions maps field paths to where their values stand.
type positions map[string]position

// find returns the place of a field or of the nearest enclosing one that stands in the file.
func (p positions) find(path string) position {
	for {
		if at, ok := p[path]; ok {
			return at
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return p[""]
		}
		path = path[:cut]
	}
}

// Nearest returns the candidate that word most likely meant: the fewest edits, at most a third of its length (at least
// one), the earlier candidate on a tie; "" when none is that near. Case costs nothing.
func Nearest(word string, candidates []string) string {
	best, bestEdits := "", max(1, len(word)/3)+1
	for _, c := range candidates {
		if n := edits(strings.ToLower(word), strings.ToLower(c), bestEdits); n < bestEdits {
			best, bestEdits = c, n
		}
	}
	return best
}

// edits is the number of insertions, deletions, replacements and swaps of neighbors that turn a into b; any number >=
// limit when it is at least limit.
func edits(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

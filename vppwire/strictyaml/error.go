package strictyaml

import (
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Error says what is wrong with a file that people wrote, where, and which valid word is nearest.
type Error struct {
	// File is as given; empty for input that came from no file.
	File string
	// Line and Column count from 1; 0 where the place is not known (a value built in Go).
	Line, Column int
	// Field is the path of the field: config.ipam.podSubnetCIDR, timeline[2].node.
	Field string
	// Message is one sentence without a full stop.
	Message string
	// Nearest is the valid word or value nearest to a wrong one; empty when none is near.
	Nearest string
}

// Error is one line: file.yaml:12:5: config.ipam.podSubnetCIDR: "10.1.0.0/33" is not a prefix.
func (e *Error) Error() string {
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
	b.WriteString(oneline.Text(e.Message))
	if e.Nearest != "" {
		b.WriteString("; did you mean " + strconv.Quote(e.Nearest) + "?")
	}
	return b.String()
}

// ValueError says what is wrong with one value and what it most likely meant.
type ValueError struct{ Message, Nearest string }

// Position is a place in a file; both count from 1.
type Position struct{ Line, Column int }

// Positions maps field paths to where their values stand.
type Positions map[string]Position

// Find returns the place of a field or of the nearest enclosing one that stands in the file.
func (p Positions) Find(path string) Position {
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

// Join appends a field's name to a path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

package strictyaml

import (
	"bytes"
	"fmt"
)

// Bounds of what people write. The parser's time and memory grow with the square of the depth, and it keeps about 400 bytes a value.
const (
	// depthMost is how deeply lists and fields may lie in each other; the deepest of our own files have 6 levels.
	depthMost = 64
	// valuesMost is how many values a file may hold: a month of a real cluster has 200,000.
	valuesMost = 500_000
)

// bounded says where a file goes beyond the bounds, before it is parsed. It reads the text line by line and knows of YAML only what opens
// a level and what is quoted or a comment; where it is wrong about a quote, it counts too little.
func (d *Decoder) bounded(data []byte) error {
	var s scan
	for line := 1; len(data) > 0; line++ {
		text, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		s.line(text)
		switch {
		case s.deepest > depthMost:
			return &Error{File: d.File, Line: d.line(line), Column: s.at, Message: fmt.Sprintf("lists and fields lie in each other more than %d levels deep", depthMost)}
		case s.values > valuesMost:
			return &Error{File: d.File, Line: d.line(line), Column: 1, Message: fmt.Sprintf("the file holds more than %d values", valuesMost)}
		}
	}
	return nil
}

// scan is what was read of a file so far.
type scan struct {
	// indents are the columns of the open block levels; flow is how many brackets are open.
	indents []int
	flow    int
	quote   byte
	values  int
	// deepest is how deep it has been, beyond the bound first at this column of its line.
	deepest, at int
}

func (s *scan) line(text []byte) {
	i := 0
	if s.flow == 0 && s.quote == 0 {
		i = s.levels(text)
	}
	s.values++
	before := byte(' ')
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case s.quote == '"' && c == '\\':
			i++
		case s.quote != 0:
			if c == s.quote {
				s.quote = 0
			}
		case (c == '"' || c == '\'') && bytes.IndexByte([]byte(" [{,:-"), before) >= 0:
			s.quote = c
		case c == '#' && (before == ' ' || before == '\t'):
			return
		case c == '[' || c == '{':
			s.flow++
			s.reached(i)
		case (c == ']' || c == '}') && s.flow > 0:
			s.flow--
		case c == ',' && s.flow > 0:
			s.values++
		}
		before = c
	}
}

// levels follows the block levels that a line opens by its indentation, and by each "- " and "? " at its start; it returns where the rest
// of the line begins.
func (s *scan) levels(text []byte) int {
	i := 0
	for i < len(text) {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case c == '#':
			return i
		}
		for len(s.indents) > 0 && s.indents[len(s.indents)-1] >= i {
			s.indents = s.indents[:len(s.indents)-1]
		}
		s.indents = append(s.indents, i)
		s.reached(i)
		if (text[i] != '-' && text[i] != '?') || i+1 >= len(text) || text[i+1] != ' ' {
			return i
		}
		i++
	}
	return i
}

func (s *scan) reached(column int) {
	depth := len(s.indents) + s.flow
	if depth > s.deepest && s.deepest <= depthMost {
		s.at = column + 1
	}
	s.deepest = max(s.deepest, depth)
}

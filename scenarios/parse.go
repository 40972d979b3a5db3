package scenarios

import (
	"fmt"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/inputfile"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Load reads a scenario file. Its errors are *InputError, or the operating system's for a file that cannot be read.
func Load(path string) (*Scenario, error) {
	data, err := inputfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a scenario from data; file is what errors call it. The error is an *InputError: one line, the first mistake.
// Laws are not checked here, because only a runner knows which ones exist: see CheckLaws.
func Parse(file string, data []byte) (*Scenario, error) { return Reader{}.Parse(file, data) }

// Parse is the function Parse, with the reader's systems.
func (r Reader) Parse(file string, data []byte) (*Scenario, error) {
	s := r.blank()
	s.File = file
	source := strings.TrimPrefix(string(data), "\ufeff")
	s.Goal, s.Notes = openingComment(source)
	d := &decoder{}
	d.source, d.lifted = liftRows(source)
	d.Decoder = strictyaml.Decoder{File: file, At: strictyaml.Positions{"": {Line: 1, Column: 1}}, Line: d.lifted.line, Scalar: r.scalar, Special: d.special, More: moreOf,
		Check: problemOf}
	if err := d.Decode([]byte(d.source), "scenario", &s); err != nil {
		return nil, err
	}
	s.at = d.At
	s.implyGateway()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &s, nil
}

// openingComment reads the comment at the top of a file: its first paragraph is the goal, further ones are notes.
// Line breaks within a paragraph mean nothing; an empty comment line ends a paragraph.
func openingComment(source string) (goal string, notes []string) {
	var paragraphs []string
	var words []string
	flush := func() {
		if len(words) > 0 {
			paragraphs = append(paragraphs, strings.Join(words, " "))
			words = nil
		}
	}
	for source != "" {
		line, rest, _ := strings.Cut(source, "\n")
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			break
		}
		if text = strings.TrimSpace(text); text == "" {
			flush()
		}
		if source = rest; !strings.HasPrefix(text, schemaLine) {
			words = append(words, strings.Fields(text)...)
		}
	}
	flush()
	if len(paragraphs) == 0 {
		return "", nil
	}
	return paragraphs[0], append([]string(nil), paragraphs[1:]...)
}

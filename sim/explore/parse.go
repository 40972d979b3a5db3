package explore

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// ParseError says where a text is no capsule. Line and Column count from 1, columns in bytes.
type ParseError struct {
	Line, Column int
	Message      string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("capsule:%d:%d: %s", e.Line, e.Column, e.Message)
}

// VersionError refuses a capsule that another program made: its events would be others.
type VersionError struct {
	// What is "version" or "format"; Capsule is the capsule's, Program this program's.
	What, Capsule, Program string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the capsule is of %s %s and this program of %s: replay it with the program that made it, or run its scenario",
		e.What, e.Capsule, e.Program)
}

// Parse reads what String wrote. Its errors are *ParseError, or *VersionError for a format that it does not know.
func Parse(text string) (*Capsule, error) {
	p := &headParser{rest: text, capsule: &Capsule{}}
	line, ok := p.next()
	format, capsule := strings.CutPrefix(line, magic)
	switch {
	case !ok || !capsule:
		return nil, p.fail(0, "want %q, the first line of a capsule", magic+strconv.Itoa(Format))
	case format != strconv.Itoa(Format):
		if _, err := strconv.ParseUint(format, 10, 31); err != nil {
			return nil, p.fail(len(magic), "%q is no format's number", format)
		}
		return nil, &VersionError{What: "format", Capsule: format, Program: strconv.Itoa(Format)}
	}
	if err := p.head(); err != nil {
		return nil, err
	}
	return p.scenario()
}

// headParser reads a capsule line by line; line counts those taken.
type headParser struct {
	rest    string
	line    int
	capsule *Capsule
}

// next takes a line without its end; false when none is left.
func (p *headParser) next() (string, bool) {
	line, rest, found := strings.Cut(p.rest, "\n")
	p.rest = rest
	p.line++
	return line, found
}

// fail places a mistake at a byte offset of the line taken last.
func (p *headParser) fail(offset int, format string, args ...any) error {
	return &ParseError{Line: p.line, Column: offset + 1, Message: fmt.Sprintf(format, args...)}
}

// headWords are the head's lines in their order.
var headWords = []struct {
	word     string
	optional bool
	many     bool
	read     func(p *headParser, value string) error
}{
	{word: "version", read: func(p *headParser, v string) error { return readText(v, &p.capsule.Version) }},
	{word: "seed", read: func(p *headParser, v string) (err error) {
		p.capsule.Seed, err = readUint(v, math.MaxUint64)
		return err
	}},
	{word: "choices", optional: true, read: func(p *headParser, v string) error {
		p.capsule.Listed = true
		return readWord(v, "listed")
	}},
	{word: "pick", optional: true, many: true, read: (*headParser).pick},
	{word: "verdict", read: func(p *headParser, v string) error {
		p.capsule.Verdict = result.Verdict(v)
		return readWord(v, string(result.Fail), string(result.Pass))
	}},
	{word: "digest", read: func(p *headParser, v string) (err error) {
		p.capsule.Digest, err = engine.ParseDigest(v)
		return err
	}},
	{word: "law", read: func(p *headParser, v string) error { return readText(v, &p.capsule.Failure.Law) }},
	{word: "what", read: func(p *headParser, v string) error { return readText(v, &p.capsule.Failure.What) }},
	{word: "node", optional: true, read: func(p *headParser, v string) error {
		if err := readText(v, &p.capsule.Failure.Node); err != nil {
			return err
		}
		if p.capsule.Failure.Node == "" {
			return errors.New("the node has no name")
		}
		return nil
	}},
	{word: "at", read: func(p *headParser, v string) error {
		d, err := scenarios.ParseDuration(v)
		if err == nil && (d < 0 || scenarios.FormatDuration(d) != v || seconds(d.Seconds()) != d) {
			err = fmt.Errorf("want a time such as 12.5s, found %q", v)
		}
		p.capsule.Failure.AtSeconds = d.Seconds()
		return err
	}},
	{word: "event", read: func(p *headParser, v string) error {
		n, err := readUint(v, math.MaxInt64)
		p.capsule.Failure.Event = int64(n)
		return err
	}},
	{word: "line", read: func(p *headParser, v string) error { return readText(v, &p.capsule.Failure.Line) }},
}

// head reads up to the empty line.
func (p *headParser) head() error {
	at, given := 0, false // the line's word, and whether it was there already
	for {
		line, ok := p.next()
		if !ok {
			return p.fail(0, "the text ends in the capsule's head: want %q", headWords[min(at, len(headWords)-1)].word)
		}
		word, value, _ := strings.Cut(line, " ")
		for at < len(headWords) && (headWords[at].word != word || given && !headWords[at].many) {
			if !headWords[at].optional && !given {
				return p.fail(0, "want %q here, found %q", headWords[at].word, line)
			}
			at, given = at+1, false
		}
		if at == len(headWords) {
			if line == "" {
				return nil
			}
			return p.fail(0, "want an empty line and the scenario, found %q", line)
		}
		given = true
		if err := headWords[at].read(p, value); err != nil {
			return p.fail(min(len(word)+1, len(line)), "%s", err)
		}
	}
}

// pick reads "number of value label".
func (p *headParser) pick(value string) error {
	var numbers [3]int
	for i := range numbers {
		word, rest, _ := strings.Cut(value, " ")
		n, err := readUint(word, math.MaxInt64)
		if err != nil {
			return err
		}
		numbers[i], value = int(n), rest
	}
	pick := Pick{Number: numbers[0], Of: numbers[1], Value: numbers[2]}
	if pick.Number < 1 || pick.Value < 1 || pick.Value >= pick.Of {
		return fmt.Errorf("decision %d is %d of %d: want a number from 1 and a value from 1 to below the alternatives", pick.Number, pick.Value, pick.Of)
	}
	if err := readText(value, &pick.Label); err != nil {
		return err
	}
	for _, q := range p.capsule.Picks {
		if q.Label == pick.Label && q.Number == pick.Number {
			return fmt.Errorf("decision %d of %q is listed twice", pick.Number, pick.Label)
		}
	}
	if !p.capsule.Listed {
		return errors.New(`decisions are listed only after "choices listed"`)
	}
	p.capsule.Picks = append(p.capsule.Picks, pick)
	return nil
}

// scenario reads the scenario behind the head. Places in it count from the capsule's first line.
func (p *headParser) scenario() (*Capsule, error) {
	s, err := scenarios.Parse("", []byte(p.rest))
	if err != nil {
		e := &ParseError{Line: p.line + 1, Column: 1, Message: err.Error()}
		var input *scenarios.InputError
		if errors.As(err, &input) && input.Line > 0 {
			e.Line, e.Column = p.line+input.Line, input.Column
		}
		return nil, e
	}
	p.capsule.Scenario = s
	return p.capsule, nil
}

func readText(value string, to *string) error {
	*to = value
	if strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		if err != nil {
			return fmt.Errorf("%s is not quoted as in Go", value)
		}
		if strconv.Quote(text) != value || plainText(text) {
			return fmt.Errorf("%s is not how a capsule quotes", value)
		}
		*to = text
		return nil
	}
	if !plainText(value) {
		return errors.New("want printable text, or quoted text")
	}
	return nil
}

func readUint(value string, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n > most || strconv.FormatUint(n, 10) != value {
		return 0, fmt.Errorf("want a number up to %d, found %q", most, value)
	}
	return n, nil
}

func readWord(value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return fmt.Errorf("want %s, found %q", strings.Join(words, " or "), value)
}

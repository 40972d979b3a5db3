package fault

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// ParseError says where a text is no injector. Column counts bytes from 1.
type ParseError struct {
	Column  int
	Message string
}

func (e *ParseError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Message) }

// nestingMax bounds how deep injectors nest: far above what people write, far below what recursion bears.
const nestingMax = 100

// Parse reads one injector: what String wrote, with any white space between words. Names that hold white space,
// parentheses or quotes are quoted as in Go. Its errors are *ParseError.
func Parse(text string, env Env) (Injector, error) {
	p := &parser{text: text, env: env, rows: injectors}
	i, err := p.injector()
	if err != nil {
		return nil, err
	}
	if t, err := p.take(); err != nil {
		return nil, err
	} else if t.kind != tokenEnd {
		return nil, fail(t, "%s after the injector's end", t)
	}
	return i, nil
}

// parser reads text from at on.
type parser struct {
	text string
	at   int
	env  Env
	// rows are the language, depth how many injectors are open.
	rows  []row
	depth int
}

func fail(t token, format string, args ...any) error {
	return &ParseError{Column: t.at + 1, Message: fmt.Sprintf(format, args...)}
}

// injector reads one injector: a word alone, or a word with what follows it inside parentheses.
func (p *parser) injector() (Injector, error) {
	t, err := p.take()
	switch {
	case err != nil:
		return nil, err
	case p.depth > nestingMax:
		return nil, fail(t, "more than %d injectors inside each other", nestingMax)
	case t.kind == tokenWord:
		return p.bare(t)
	case t.kind != tokenOpen:
		return nil, fail(t, "want an injector, found %s", t)
	}
	head, err := p.take()
	if err != nil {
		return nil, err
	}
	if head.kind != tokenWord {
		return nil, fail(head, "want an injector's word after (, found %s", head)
	}
	r, err := p.row(head)
	if err != nil {
		return nil, err
	}
	p.depth++
	i, err := r.parse(p)
	if err != nil {
		return nil, err
	}
	p.depth--
	if t, err := p.take(); err != nil {
		return nil, err
	} else if t.kind != tokenClose {
		return nil, fail(t, "want ) after the end of %s, found %s", head.text, t)
	}
	return i, nil
}

// bare reads an injector without arguments.
func (p *parser) bare(t token) (Injector, error) {
	r, err := p.row(t)
	if err != nil {
		return nil, err
	}
	if r.rest != "" {
		return nil, fail(t, "%s needs arguments: (%s %s)", t.text, r.word, r.rest)
	}
	return r.parse(p)
}

// row finds an injector by its word.
func (p *parser) row(t token) (row, error) {
	words := make([]string, len(p.rows))
	for i, r := range p.rows {
		if r.word == t.text {
			return r, nil
		}
		words[i] = r.word
	}
	return row{}, fail(t, "unknown injector %s%s", t, didYouMean(t.text, words))
}

// around reads the injector inside another one.
func (p *parser) around(wrap func(Injector) Injector) (Injector, error) {
	i, err := p.injector()
	if err != nil {
		return nil, err
	}
	return wrap(i), nil
}

// name takes a word, quoted or not.
func (p *parser) name() (string, error) {
	t, err := p.take()
	if err != nil {
		return "", err
	}
	if t.kind != tokenWord && t.kind != tokenQuoted {
		return "", fail(t, "want a name, found %s", t)
	}
	return t.text, nil
}

func (p *parser) integer(least, most int64) (int64, error) {
	t, err := p.take()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(t.text, 10, 64)
	if t.kind != tokenWord || err != nil || n < least || n > most {
		return 0, fail(t, "want an integer from %d to %d, found %s", least, most, t)
	}
	return n, nil
}

func (p *parser) probability() (float64, error) {
	t, err := p.take()
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(t.text, 64)
	if t.kind != tokenWord || err != nil || !(x >= 0 && x <= 1) {
		return 0, fail(t, "want a probability from 0 to 1, found %s", t)
	}
	return math.Abs(x), nil
}

func (p *parser) duration() (time.Duration, error) {
	t, err := p.take()
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(t.text)
	if t.kind != tokenWord || err != nil || d < 0 {
		return 0, fail(t, "want a time such as 20ms or 1m30s, found %s", t)
	}
	return d, nil
}

// span takes two times, the second not before the first.
func (p *parser) span() (from, to time.Duration, err error) {
	if from, err = p.duration(); err != nil {
		return 0, 0, err
	}
	before := p.at
	if to, err = p.duration(); err != nil {
		return 0, 0, err
	}
	if to < from {
		p.at = before
		t, _ := p.take()
		return 0, 0, fail(t, "%s is before %s", to, from)
	}
	return from, to, nil
}

func didYouMean(word string, words []string) string {
	if near := strictyaml.Nearest(word, words); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

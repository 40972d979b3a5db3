package fault

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// ParseError says where a text is no injector. Column counts bytes from 1.
type ParseError struct {
	Column  int
	Message string
}

func (e *ParseError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Message) }

// vocabulary is every injector's word with what follows it, in the order in which people are told.
var vocabulary = []struct{ word, rest string }{
	{"Request", "NAME INJECTOR"}, {"Kind", "KIND INJECTOR"}, {"Node", "NAME INJECTOR"}, {"Key", "KEY INJECTOR"},
	{"Nth", "N INJECTOR"}, {"First", "N INJECTOR"}, {"After", "N INJECTOR"}, {"Prob", "P INJECTOR"},
	{"During", "FROM TO INJECTOR"}, {"Any", "INJECTOR..."},
	{"Refuse", "CODE"}, {"Delay", "TIME"}, {"Jitter", "MIN MAX"},
	{"Pass", ""}, {"Vanish", ""}, {"Mute", ""}, {"Duplicate", ""}, {"CrashBefore", ""}, {"CrashAfter", ""}, {"Census", ""},
}

// nestingMax bounds how deep injectors nest: far above what people write, far below what recursion bears.
const nestingMax = 100

// Parse reads one injector: what String wrote, with any white space between words. Names that hold white space,
// parentheses or quotes are quoted as in Go. Its errors are *ParseError.
func Parse(text string, env Env) (Injector, error) {
	p := &parser{text: text, env: env}
	i, err := p.injector(0)
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
}

func fail(t token, format string, args ...any) error {
	return &ParseError{Column: t.at + 1, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) injector(depth int) (Injector, error) {
	t, err := p.take()
	switch {
	case err != nil:
		return nil, err
	case depth > nestingMax:
		return nil, fail(t, "more than %d injectors inside each other", nestingMax)
	case t.kind == tokenWord:
		return bare(t)
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
	i, err := p.compound(head, depth)
	if err != nil {
		return nil, err
	}
	if t, err := p.take(); err != nil {
		return nil, err
	} else if t.kind != tokenClose {
		return nil, fail(t, "want ) after the end of %s, found %s", head.text, t)
	}
	return i, nil
}

// bare reads an injector without arguments.
func bare(t token) (Injector, error) {
	switch t.text {
	case "Census":
		return NewCensus(), nil
	case "Pass", "Vanish", "Mute", "Duplicate", "CrashBefore", "CrashAfter":
		for a, word := range actionWords {
			if word == t.text {
				return Verdict{Action: Action(a)}, nil
			}
		}
	}
	for _, v := range vocabulary {
		if v.word == t.text {
			return nil, fail(t, "%s needs arguments: (%s %s)", t.text, v.word, v.rest)
		}
	}
	return nil, unknown(t)
}

// compound reads what follows an injector's word inside parentheses.
func (p *parser) compound(head token, depth int) (Injector, error) {
	switch head.text {
	case "Request", "Node", "Key":
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		f := map[string]field{"Request": fieldRequest, "Node": fieldNode, "Key": fieldKey}[head.text]
		return p.around(depth, func(i Injector) Injector { return newMatch(f, name, i) })
	case "Kind":
		kind, err := p.kind()
		if err != nil {
			return nil, err
		}
		return p.around(depth, func(i Injector) Injector { return Kind(kind, i) })
	case "Nth", "First", "After":
		return p.counted(head.text, depth)
	case "Prob":
		prob, err := p.probability()
		if err != nil {
			return nil, err
		}
		return p.around(depth, func(i Injector) Injector { return Prob(p.env, prob, i) })
	case "During":
		from, to, err := p.span()
		if err != nil {
			return nil, err
		}
		return p.around(depth, func(i Injector) Injector { return During(p.env, from, to, i) })
	case "Any":
		return p.anyOf(depth)
	case "Refuse":
		code, err := p.integer(math.MinInt32, math.MaxInt32)
		return Verdict{Action: Refuse, Code: int32(code)}, err
	case "Delay":
		d, err := p.duration()
		return Verdict{Action: Delay, Delay: d}, err
	case "Jitter":
		min, max, err := p.span()
		if err != nil {
			return nil, err
		}
		return Jitter(p.env, min, max), nil
	}
	return bare(head)
}

func (p *parser) around(depth int, wrap func(Injector) Injector) (Injector, error) {
	i, err := p.injector(depth + 1)
	if err != nil {
		return nil, err
	}
	return wrap(i), nil
}

func (p *parser) counted(word string, depth int) (Injector, error) {
	make, least := After, int64(0)
	switch word {
	case "Nth":
		make, least = Nth, 1
	case "First":
		make, least = First, 1
	}
	n, err := p.integer(least, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	return p.around(depth, func(i Injector) Injector { return make(int(n), i) })
}

func (p *parser) anyOf(depth int) (Injector, error) {
	var list []Injector
	for {
		before := p.at
		t, err := p.take()
		if err != nil {
			return nil, err
		}
		p.at = before
		if t.kind == tokenClose {
			return Any(list...), nil
		}
		i, err := p.injector(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, i)
	}
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

func (p *parser) kind() (OpKind, error) {
	t, err := p.take()
	if err != nil {
		return 0, err
	}
	if k, ok := ParseKind(t.text); ok && t.kind == tokenWord {
		return k, nil
	}
	return 0, fail(t, "want one of %s, found %s%s", strings.Join(kindWords[1:], ", "), t, didYouMean(t.text, kindWords[1:]))
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

func unknown(t token) error {
	words := make([]string, len(vocabulary))
	for i, v := range vocabulary {
		words[i] = v.word
	}
	return fail(t, "unknown injector %s%s", t, didYouMean(t.text, words))
}

func didYouMean(word string, words []string) string {
	if near := strictyaml.Nearest(word, words); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

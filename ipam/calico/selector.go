package calico

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Selector is an expression over labels in Calico's language, as IPPools' nodeSelector: label == 'value', !=, contains, starts with, ends with,
// in { 'a', 'b' }, not in { }, has(label), all(), with !, && before ||, and parentheses. The zero Selector, and the empty text, selects all.
type Selector struct{ matches matcher }

// ParseSelector reads one. The error says what was expected where.
func ParseSelector(text string) (Selector, error) {
	p := selectorParser{text: text, rest: strings.TrimLeft(text, " \t")}
	if p.rest == "" || strings.TrimRight(p.rest, " \t") == "all()" {
		return Selector{}, nil
	}
	matches, err := p.or()
	if err == nil && p.rest != "" {
		err = p.wanted("&&, || or the end")
	}
	return Selector{matches}, err
}

// All reports whether it selects all, as the zero Selector and all() do.
func (s Selector) All() bool { return s.matches == nil }

// Matches reports whether labels are selected.
func (s Selector) Matches(labels map[string]string) bool {
	return s.matches == nil || s.matches(labels)
}

// matcher is a part of a Selector.
type matcher = func(labels map[string]string) bool

// nestedMost is how deep parentheses may be within each other.
const nestedMost = 100

// selectorParser is behind the last word, and the spaces behind that.
type selectorParser struct {
	text, rest string
	nested     int
}

var errNested = errors.New("parentheses are too deep within each other")

func (p *selectorParser) wanted(what string) error {
	return fmt.Errorf("selector %q: want %s at character %d", p.text, what, len(p.text)-len(p.rest)+1)
}

// take takes a word, if that is next.
func (p *selectorParser) take(word string) bool {
	rest, ok := strings.CutPrefix(p.rest, word)
	if ok {
		p.rest = strings.TrimLeft(rest, " \t")
	}
	return ok
}

// word takes a word of letters that ends there.
func (p *selectorParser) word(word string) bool {
	rest, ok := strings.CutPrefix(p.rest, word)
	if !ok || rest != "" && labelCharacter(rune(rest[0])) {
		return false
	}
	return p.take(word)
}

// words takes two, with spaces between them or not.
func (p *selectorParser) words(first, second string) bool {
	before := p.rest
	if p.take(first) && p.word(second) {
		return true
	}
	p.rest = before
	return false
}

// label takes a label's name.
func (p *selectorParser) label() (string, error) {
	i := strings.IndexFunc(p.rest, func(r rune) bool { return !labelCharacter(r) })
	if i < 0 {
		i = len(p.rest)
	}
	name := p.rest[:i]
	if i == 0 {
		return "", p.wanted("a label, has(label), all(), ! or (")
	}
	p.take(name)
	return name, nil
}

func labelCharacter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./-", r)
}

// value takes a text in quotes.
func (p *selectorParser) value() (string, error) {
	if p.rest == "" || p.rest[0] != '\'' && p.rest[0] != '"' {
		return "", p.wanted("a value in quotes")
	}
	i := strings.IndexByte(p.rest[1:], p.rest[0])
	if i < 0 {
		return "", p.wanted("a value whose quotes end")
	}
	value := p.rest[1 : 1+i]
	p.take(p.rest[:i+2])
	return value, nil
}

func (p *selectorParser) or() (matcher, error) {
	return p.several("||", p.and, func(list []matcher, labels map[string]string) bool {
		return slices.ContainsFunc(list, func(m matcher) bool { return m(labels) })
	})
}

func (p *selectorParser) and() (matcher, error) {
	return p.several("&&", p.term, func(list []matcher, labels map[string]string) bool {
		return !slices.ContainsFunc(list, func(m matcher) bool { return !m(labels) })
	})
}

// several takes parts with an operator between them.
func (p *selectorParser) several(operator string, part func() (matcher, error), of func([]matcher, map[string]string) bool) (matcher, error) {
	var list []matcher
	for {
		m, err := part()
		if err != nil {
			return nil, err
		}
		if list = append(list, m); !p.take(operator) {
			return func(labels map[string]string) bool { return of(list, labels) }, nil
		}
	}
}

func (p *selectorParser) term() (matcher, error) {
	not := false
	for p.rest != "" && p.rest[0] == '!' {
		p.take("!")
		not = !not
	}
	m, err := p.single()
	if err != nil || !not {
		return m, err
	}
	return func(labels map[string]string) bool { return !m(labels) }, nil
}

func (p *selectorParser) single() (m matcher, err error) {
	switch {
	case p.take("("):
		if p.nested++; p.nested > nestedMost {
			return nil, errNested
		}
		m, err = p.or()
		p.nested--
	case p.take("all("):
		m = func(map[string]string) bool { return true }
	case p.take("has("):
		var name string
		name, err = p.label()
		m = func(labels map[string]string) bool { _, has := labels[name]; return has }
	default:
		return p.comparison()
	}
	if err == nil && !p.take(")") {
		err = p.wanted(")")
	}
	return m, err
}

// comparison takes a label and what its value is to be. One that is missing is unequal to every value, and in no set.
func (p *selectorParser) comparison() (matcher, error) {
	name, err := p.label()
	if err != nil {
		return nil, err
	}
	holds, not := func(have, want string) bool { return have == want }, false
	switch {
	case p.take("=="):
	case p.take("!="):
		not = true
	case p.word("contains"):
		holds = strings.Contains
	case p.words("starts", "with"):
		holds = strings.HasPrefix
	case p.words("ends", "with"):
		holds = strings.HasSuffix
	case p.words("not", "in"):
		return p.among(name, true)
	case p.word("in"):
		return p.among(name, false)
	default:
		return nil, p.wanted("==, !=, contains, starts with, ends with, in or not in")
	}
	value, err := p.value()
	return func(labels map[string]string) bool {
		have, there := labels[name]
		return (there && holds(have, value)) != not
	}, err
}

// among takes a set of values.
func (p *selectorParser) among(name string, not bool) (matcher, error) {
	if !p.take("{") {
		return nil, p.wanted("{")
	}
	var list []string
	for !p.take("}") {
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		if list = append(list, value); !p.take(",") && !strings.HasPrefix(p.rest, "}") {
			return nil, p.wanted(", or }")
		}
	}
	return func(labels map[string]string) bool {
		have, there := labels[name]
		return (there && slices.Contains(list, have)) != not
	}, nil
}

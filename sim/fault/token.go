package fault

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenOpen
	tokenClose
	tokenWord
	tokenQuoted
)

// token is one parenthesis or word of a text; at is its offset in bytes.
type token struct {
	kind tokenKind
	at   int
	text string
}

func (t token) String() string {
	if t.kind == tokenEnd {
		return "the end of the text"
	}
	return strconv.Quote(t.text)
}

// take reads the next token; at the end of the text it is tokenEnd, again and again.
func (p *parser) take() (token, error) {
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
	start := p.at
	t := token{at: start}
	if start == len(p.text) {
		return t, nil
	}
	switch p.text[start] {
	case '(':
		t.kind = tokenOpen
	case ')':
		t.kind = tokenClose
	case '"':
		return p.takeQuoted(t)
	default:
		t.kind = tokenWord
		for p.at < len(p.text) {
			r, size := utf8.DecodeRuneInString(p.text[p.at:])
			if !plain(r) {
				break
			}
			p.at += size
		}
		t.text = p.text[start:p.at]
		if t.text == "" {
			r, _ := utf8.DecodeRuneInString(p.text[start:])
			return t, fail(t, "character %q only inside quotes", r)
		}
		return t, nil
	}
	p.at++
	t.text = p.text[start:p.at]
	return t, nil
}

func (p *parser) takeQuoted(t token) (token, error) {
	quoted, err := strconv.QuotedPrefix(p.text[t.at:])
	if err != nil {
		return t, fail(t, "quoted name without its end")
	}
	p.at += len(quoted)
	t.kind = tokenQuoted
	t.text, err = strconv.Unquote(quoted)
	if err != nil {
		return t, fail(t, "quoted name %s: %v", quoted, err)
	}
	return t, nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// spell is a time as the parser reads it: ASCII, so "us" where time.Duration says "µs".
func spell(d time.Duration) string { return strings.Replace(d.String(), "µ", "u", 1) }

// quote returns s as one word of an s-expression.
func quote(s string) string {
	for _, r := range s {
		if !plain(r) {
			return strconv.Quote(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

// plain reports whether a word may hold r without quotes.
func plain(r rune) bool {
	return r > ' ' && r < 0x7f && r != '(' && r != ')' && r != '"' && r != '`' && r != '\\'
}

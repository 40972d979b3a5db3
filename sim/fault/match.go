package fault

import (
	"strconv"
	"strings"
)

type field uint8

const (
	fieldRequest field = iota
	fieldNode
	fieldKey
)

// match asks the injector inside about operations whose field is want, or starts with it.
type match struct {
	field  field
	want   string
	prefix bool
	inner  Injector
}

// Request restricts an injector to operations with that name, of whatever kind; a name that ends in * stands for all
// that begin so.
func Request(name string, i Injector) Injector { return newMatch(fieldRequest, name, i) }

// Node restricts an injector to one machine's operations, or those of all machines whose names begin so.
func Node(name string, i Injector) Injector { return newMatch(fieldNode, name, i) }

// Key restricts an injector to operations on one key, or on all that begin so.
func Key(key string, i Injector) Injector { return newMatch(fieldKey, key, i) }

func newMatch(f field, pattern string, i Injector) Injector {
	want, prefix := strings.CutSuffix(pattern, "*")
	return &match{field: f, want: want, prefix: prefix, inner: i}
}

func (m *match) Judge(op Op) Verdict {
	got := op.Name
	switch m.field {
	case fieldNode:
		got = op.Node
	case fieldKey:
		got = op.Key
	}
	if got == m.want || m.prefix && strings.HasPrefix(got, m.want) {
		return m.inner.Judge(op)
	}
	return Verdict{}
}

func (m *match) String() string {
	pattern := m.want
	if m.prefix {
		pattern += "*"
	}
	word := [...]string{fieldRequest: "Request", fieldNode: "Node", fieldKey: "Key"}[m.field]
	return "(" + word + " " + quote(pattern) + " " + m.inner.String() + ")"
}

type ofKind struct {
	kind  OpKind
	inner Injector
}

// Kind restricts an injector to operations of one kind.
func Kind(k OpKind, i Injector) Injector { return &ofKind{kind: k, inner: i} }

func (o *ofKind) Judge(op Op) Verdict {
	if op.Kind != o.kind {
		return Verdict{}
	}
	return o.inner.Judge(op)
}

func (o *ofKind) String() string { return "(Kind " + o.kind.String() + " " + o.inner.String() + ")" }

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

package fault

import "strings"

type field uint8

const (
	fieldRequest field = iota
	fieldNode
	fieldKey
)

// match asks the injector inside about operations whose field equals want, or starts with it.
type match struct {
	field  field
	want   string
	prefix bool
	inner  Injector
}

// Node restricts an injector to one machine's operations; a name that ends in * stands for all that begin so.
func Node(name string, i Injector) Injector { return newMatch(fieldNode, name, i) }

// Request restricts an injector to operations with a name, of whatever kind, Key to those on one key.
func parseRequest(p *parser) (Injector, error) { return p.match(fieldRequest) }
func parseNode(p *parser) (Injector, error)    { return p.match(fieldNode) }
func parseKey(p *parser) (Injector, error)     { return p.match(fieldKey) }

func (p *parser) match(f field) (Injector, error) {
	pattern, err := p.name()
	if err != nil {
		return nil, err
	}
	return p.around(func(i Injector) Injector { return newMatch(f, pattern, i) })
}

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

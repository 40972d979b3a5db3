package fault

import "strings"

type anyOf []Injector

// Any gives the verdict of the first injector that does not pass the operation. All are asked, as by Judge.
func Any(list ...Injector) Injector { return anyOf(list) }

func parseAny(p *parser) (Injector, error) {
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
		i, err := p.injector()
		if err != nil {
			return nil, err
		}
		list = append(list, i)
	}
}

func (a anyOf) Judge(op Op) Verdict { return Judge(a, op) }

func (a anyOf) String() string {
	var b strings.Builder
	b.WriteString("(Any")
	for _, i := range a {
		b.WriteByte(' ')
		b.WriteString(i.String())
	}
	b.WriteByte(')')
	return b.String()
}

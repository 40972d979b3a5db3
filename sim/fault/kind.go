package fault

import "strings"

type ofKind struct {
	kind  OpKind
	inner Injector
}

// Kind restricts an injector to operations of one kind.
func Kind(k OpKind, i Injector) Injector { return &ofKind{kind: k, inner: i} }

func parseKind(p *parser) (Injector, error) {
	t, err := p.take()
	if err != nil {
		return nil, err
	}
	k, ok := ParseKind(t.text)
	if !ok || t.kind != tokenWord {
		return nil, fail(t, "want one of %s, found %s%s", strings.Join(kindWords[1:], ", "), t, didYouMean(t.text, kindWords[1:]))
	}
	return p.around(func(i Injector) Injector { return Kind(k, i) })
}

func (o *ofKind) Judge(op Op) Verdict {
	if op.Kind != o.kind {
		return Verdict{}
	}
	return o.inner.Judge(op)
}

func (o *ofKind) String() string { return "(Kind " + o.kind.String() + " " + o.inner.String() + ")" }

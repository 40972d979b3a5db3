package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// AppendText appends a policy as one line of words, for people.
func (p *Policy) AppendText(b []byte) []byte {
	b = append(append(b, p.Name.String()...), " pods="...)
	b = append(b, p.Pods.String()...)
	for _, way := range [...]struct {
		word, peers string
		about       bool
		rules       []Rule
	}{{"ingress", " from=", p.Ingress, p.IngressRules}, {"egress", " to=", p.Egress, p.EgressRules}} {
		if !way.about {
			continue
		}
		b = append(append(b, ' '), way.word...)
		for i := range way.rules {
			b = append(append(b, way.peers...), way.rules[i].peers()...)
			b = append(append(b, " ports="...), way.rules[i].ports()...)
		}
	}
	return b
}

func (r *Rule) peers() string {
	if r.Peers == nil {
		return "all"
	}
	var words []string
	for _, x := range r.Peers {
		switch {
		case x.Block.IsValid():
			word := x.Block.String()
			for _, e := range x.Except {
				word += "-" + e.String()
			}
			words = append(words, word)
		case x.Namespaces != nil && x.Pods != nil:
			words = append(words, x.Namespaces.String()+"/"+x.Pods.String())
		case x.Namespaces != nil:
			words = append(words, x.Namespaces.String()+"/all")
		case x.Pods != nil:
			words = append(words, x.Pods.String())
		default:
			words = append(words, "nobody")
		}
	}
	return "[" + strings.Join(words, ";") + "]"
}

func (r *Rule) ports() string {
	if r.Ports == nil {
		return "all"
	}
	var words []string
	for _, p := range r.Ports {
		switch {
		case p.Proto == 0:
			words = append(words, "none")
		case p.Named != "":
			words = append(words, p.Proto.String()+":"+p.Named)
		default:
			words = append(words, fmt.Sprintf("%s:%d-%d", p.Proto, p.First, p.Last))
		}
	}
	return "[" + strings.Join(words, ";") + "]"
}

var operatorWords = [...]string{"?", "in", "notin", "exists", "absent"}

// String is the selector in one word: "app=web,tier:in(a|b)", "all".
func (s *Selector) String() string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(s.Labels)) {
		words = append(words, k+"="+s.Labels[k])
	}
	for _, r := range s.Requirements {
		words = append(words, fmt.Sprintf("%s:%s(%s)", r.Key, operatorWords[min(int(r.Op), len(operatorWords)-1)], strings.Join(r.Values, "|")))
	}
	if len(words) == 0 {
		return "all"
	}
	return strings.Join(words, ",")
}

package nodeipam

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Selector chooses nodes by their labels: every Requirement must hold. The zero Selector chooses every node.
type Selector struct{ requirements []Requirement }

// Operator relates a label to values.
type Operator string

// Operators of node selectors, named as in the Kubernetes API.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	// Gt and Lt compare integers; a label that is none never matches.
	Gt Operator = "Gt"
	Lt Operator = "Lt"
)

// Requirement is one condition on one label. In and NotIn have at least one value, Gt and Lt one integer, the others
// none.
type Requirement struct {
	Key      string
	Operator Operator
	Values   []string
}

// NewSelector checks the requirements and brings them into canonical order: by key, operator and values.
func NewSelector(requirements ...Requirement) (Selector, error) {
	var s Selector
	for _, r := range requirements {
		if err := r.check(); err != nil {
			return Selector{}, err
		}
		r.Values = slices.Compact(slices.Sorted(slices.Values(r.Values)))
		s.requirements = append(s.requirements, r)
	}
	slices.SortFunc(s.requirements, func(a, b Requirement) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Operator, b.Operator), slices.Compare(a.Values, b.Values))
	})
	s.requirements = slices.CompactFunc(s.requirements, func(a, b Requirement) bool {
		return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
	})
	return s, nil
}

func (r Requirement) check() error {
	if r.Key == "" || !isLabel(r.Key) {
		return fmt.Errorf("label key %q is not valid", r.Key)
	}
	if r.Key == "in" || r.Key == "notin" {
		return fmt.Errorf("label key %q would read as an operator", r.Key)
	}
	for _, v := range r.Values {
		if integer := r.Operator == Gt || r.Operator == Lt; !integer && (!isLabel(v) || strings.Contains(v, "/")) {
			return fmt.Errorf("label %s: value %q is not valid", r.Key, v)
		}
	}
	switch r.Operator {
	case In, NotIn:
		if len(r.Values) == 0 {
			return fmt.Errorf("label %s: operator %s needs values", r.Key, r.Operator)
		}
	case Exists, DoesNotExist:
		if len(r.Values) > 0 {
			return fmt.Errorf("label %s: operator %s takes no values", r.Key, r.Operator)
		}
	case Gt, Lt:
		if len(r.Values) != 1 {
			return fmt.Errorf("label %s: operator %s takes one value", r.Key, r.Operator)
		}
		if n, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil || strconv.FormatInt(n, 10) != r.Values[0] {
			return fmt.Errorf("label %s: operator %s takes an integer, not %q", r.Key, r.Operator, r.Values[0])
		}
	default:
		return fmt.Errorf("label %s: operator %q is unknown", r.Key, r.Operator)
	}
	return nil
}

// isLabel reports whether text has only characters of label keys and values, and begins and ends as they do.
func isLabel(text string) bool {
	for i, c := range []byte(text) {
		alnum := '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		inner := c == '-' || c == '_' || c == '.' || c == '/'
		if edge := i == 0 || i == len(text)-1; !alnum && (!inner || edge) {
			return false
		}
	}
	return true
}

// String is the selector in kubectl's notation, requirements in canonical order; ParseSelector reads it back:
//
//	disk in (nvme,ssd),rack>4,!spot,zone=a
func (s Selector) String() string {
	texts := make([]string, len(s.requirements))
	for i, r := range s.requirements {
		texts[i] = r.String()
	}
	return strings.Join(texts, ",")
}

// String is the requirement in kubectl's notation.
func (r Requirement) String() string {
	switch {
	case r.Operator == Exists:
		return r.Key
	case r.Operator == DoesNotExist:
		return "!" + r.Key
	case r.Operator == Gt:
		return r.Key + ">" + r.Values[0]
	case r.Operator == Lt:
		return r.Key + "<" + r.Values[0]
	case len(r.Values) > 1 && r.Operator == In:
		return r.Key + " in (" + strings.Join(r.Values, ",") + ")"
	case len(r.Values) > 1:
		return r.Key + " notin (" + strings.Join(r.Values, ",") + ")"
	case r.Operator == In:
		return r.Key + "=" + r.Values[0]
	}
	return r.Key + "!=" + r.Values[0]
}

// ParseSelector reads kubectl's notation: "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (b,c)", "a", "!a", "a>1",
// "a<1", joined by commas. Empty text is the zero Selector.
func ParseSelector(text string) (Selector, error) {
	var list []Requirement
	for rest := strings.TrimSpace(text); rest != ""; {
		var part string
		part, rest = cutPart(rest)
		r, err := parseRequirement(part)
		if err != nil {
			return Selector{}, fmt.Errorf("selector %q: %w", text, err)
		}
		list = append(list, r)
	}
	s, err := NewSelector(list...)
	if err != nil {
		return Selector{}, fmt.Errorf("selector %q: %w", text, err)
	}
	return s, nil
}

// cutPart splits at the first comma outside parentheses.
func cutPart(text string) (part, rest string) {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

func parseRequirement(part string) (Requirement, error) {
	part = strings.TrimSpace(part)
	if key, ok := strings.CutPrefix(part, "!"); ok && !strings.ContainsAny(key, "=<>() ") {
		return Requirement{Key: key, Operator: DoesNotExist}, nil
	}
	for _, sign := range [...]struct {
		text string
		op   Operator
	}{{"!=", NotIn}, {"==", In}, {"=", In}, {">", Gt}, {"<", Lt}} {
		if key, value, ok := strings.Cut(part, sign.text); ok {
			return Requirement{strings.TrimSpace(key), sign.op, []string{strings.TrimSpace(value)}}, nil
		}
	}
	if body, ok := strings.CutSuffix(part, ")"); ok {
		head, list, _ := strings.Cut(body, "(")
		words := strings.Fields(head)
		if len(words) != 2 || words[1] != "in" && words[1] != "notin" {
			return Requirement{}, fmt.Errorf("%q: want key in (values)", part)
		}
		r := Requirement{Key: words[0], Operator: In}
		if words[1] == "notin" {
			r.Operator = NotIn
		}
		for _, v := range strings.Split(list, ",") {
			r.Values = append(r.Values, strings.TrimSpace(v))
		}
		return r, nil
	}
	return Requirement{Key: part, Operator: Exists}, nil
}

// Matches reports whether every requirement holds, and how many there are: upstream's count of matching labels.
func (s Selector) Matches(labels map[string]string) (count int, ok bool) {
	for _, r := range s.requirements {
		if !r.matches(labels) {
			return 0, false
		}
	}
	return len(s.requirements), true
}

func (r Requirement) matches(labels map[string]string) bool {
	value, has := labels[r.Key]
	switch r.Operator {
	case In:
		return has && slices.Contains(r.Values, value)
	case NotIn:
		return !has || !slices.Contains(r.Values, value)
	case Exists:
		return has
	case DoesNotExist:
		return !has
	}
	have, err := strconv.ParseInt(value, 10, 64)
	limit, bad := strconv.ParseInt(r.Values[0], 10, 64)
	if !has || err != nil || bad != nil {
		return false
	}
	if r.Operator == Gt {
		return have > limit
	}
	return have < limit
}

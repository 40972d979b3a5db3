package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// condition is comparisons of figures with numbers, all of which must hold in a run.
type condition []comparison

type comparison struct {
	metric, op string
	value      float64
}

// operators are in an order in which none is found inside of one before it.
var operators = []string{"<=", ">=", "==", "!=", "<", ">"}

// readCondition reads "a == 0 and b < 5". It refuses one that nothing can fulfil.
func readCondition(text string) (condition, error) {
	var c condition
	for part := range strings.SplitSeq(text, " and ") {
		i := slices.IndexFunc(operators, func(op string) bool { return strings.Contains(part, op) })
		if i < 0 {
			return nil, fmt.Errorf("%q is no comparison such as podsNeverPlaced == 0", strings.TrimSpace(part))
		}
		name, value, _ := strings.Cut(part, operators[i])
		name = strings.TrimSpace(name)
		if err := checkMetric(name); err != nil {
			return nil, err
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", strings.TrimSpace(value))
		}
		c = append(c, comparison{name, operators[i], x})
	}
	if name := c.contradicts(); name != "" {
		return nil, fmt.Errorf("no %s fulfils %q", name, text)
	}
	return c, nil
}

// contradicts is a metric that no value of could fulfil the condition, "" when there is none.
func (c condition) contradicts() string {
	for _, x := range c {
		low, high, lowOpen, highOpen := math.Inf(-1), math.Inf(1), false, false
		for _, y := range c {
			if y.metric != x.metric {
				continue
			}
			if y.op == ">" || y.op == ">=" || y.op == "==" {
				if y.value > low || y.value == low && y.op == ">" {
					low, lowOpen = y.value, y.op == ">"
				}
			}
			if y.op == "<" || y.op == "<=" || y.op == "==" {
				if y.value < high || y.value == high && y.op == "<" {
					high, highOpen = y.value, y.op == "<"
				}
			}
		}
		single := low == high && slices.ContainsFunc(c, func(y comparison) bool { return y.metric == x.metric && y.op == "!=" && y.value == low })
		if low > high || low == high && (lowOpen || highOpen) || single {
			return x.metric
		}
	}
	return ""
}

// holds reports whether a run fulfils the condition; a figure that it does not have fulfils nothing.
func (c condition) holds(f Figures) bool {
	for _, x := range c {
		v, ok := f[x.metric]
		if !ok || !map[string]bool{"<": v < x.value, "<=": v <= x.value, ">": v > x.value, ">=": v >= x.value, "==": v == x.value, "!=": v != x.value}[x.op] {
			return false
		}
	}
	return true
}

// unknownMetric is a figure that no run has.
type unknownMetric struct{ name, nearest string }

func (e unknownMetric) Error() string {
	text := fmt.Sprintf("no figure is called %q", e.name)
	if e.nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", e.nearest)
	}
	return text
}

func checkMetric(name string) error {
	all := Metrics()
	if slices.Contains(all, name) {
		return nil
	}
	return unknownMetric{name, strictyaml.Nearest(name, all)}
}

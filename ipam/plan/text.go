package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// String is the plan for people.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s%s, %s on each, %s in all", p.System, plural(p.Nodes, "node"), fit(p.Nodes), plural(p.Running.PodsPerNode, "pod"), plural(p.Running.Pods, "pod"))
	switch {
	case p.Running.PodsPerNode == p.PodsPerNode:
	case p.Running.Pods == p.Running.Addresses:
		fmt.Fprintf(&b, "; a node's addresses alone would do for %s", countText(p.PodsPerNode))
	default:
		fmt.Fprintf(&b, "; addresses alone would do for %s and %s", countText(p.PodsPerNode), countText(p.Running.Addresses))
	}
	b.WriteByte('\n')
	if e := p.Expected; e != nil {
		nodes := fmt.Sprintf("the %s expected", plural(e.Nodes, "node"))
		if all := p.NodeLimits[0].Used; e.Nodes < all {
			nodes = fmt.Sprintf("%s of the %s expected", countText(e.Nodes), plural(all, "node"))
		}
		fmt.Fprintf(&b, "%s: %s in all", nodes, plural(e.Pods, "pod"))
		if e.Pods < e.Addresses {
			fmt.Fprintf(&b, "; addresses for %s", countText(e.Addresses))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "first to run out: %s at %s, %s%s\n", p.FirstOut.Of, countText(p.FirstOut.Fits), p.FirstOut.What, used(p.FirstOut.Limit))
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	p.ranges(&b)
	limits(&b, "nodes end at", p.NodeLimits)
	limits(&b, "pods on a node end at", p.PodLimits)
	table(&b, "reserved", func(row func(cells ...string)) {
		for _, r := range p.Reserved {
			row(countText(r.Count), "per "+r.Per, r.Where, r.What)
		}
	})
	p.findings(&b)
	return b.String()
}

func (p Plan) ranges(b *strings.Builder) {
	table(b, "ranges", func(row func(cells ...string)) {
		for _, r := range p.Ranges {
			split, room := "", ""
			if r.OneNode > 0 {
				split = fmt.Sprintf(", %s x /%d", countText(r.Parts), r.OneNode)
			}
			if r.Roomiest != r.Prefix {
				room = "can be widened to " + r.Roomiest.String()
			}
			row(r.Name, r.Prefix.String(), r.Purpose+split, room)
		}
	})
}

func limits(b *strings.Builder, title string, list []Limit) {
	table(b, title, func(row func(cells ...string)) {
		for _, l := range list {
			row(countText(l.Fits), l.What, l.Why+used(l))
		}
	})
}

// used is ", 2% used", or nothing when nothing is expected.
func used(l Limit) string {
	if l.Used == 0 {
		return ""
	}
	if l.Fits < l.Used {
		return ", " + countText(l.Used) + " expected"
	}
	return fmt.Sprintf(", %s used by %s", percent(l.Used, l.Fits), countText(l.Used))
}

func (p Plan) findings(b *strings.Builder) {
	if len(p.Findings) == 0 {
		b.WriteString("\nno findings\n")
		return
	}
	errors := 0
	for _, f := range p.Findings {
		if f.Severity == Error {
			errors++
		}
	}
	fmt.Fprintf(b, "\nfindings: %s, %s\n", plural(uint64(errors), "error"), plural(uint64(len(p.Findings)-errors), "warning"))
	for _, f := range p.Findings {
		fmt.Fprintf(b, "  %s %s: %s\n    %s\n    %s\n", f.Severity, f.Name, f.Where, f.What, f.Do)
	}
}

// table writes a title and rows in columns, or nothing without rows.
func table(b *strings.Builder, title string, rows func(row func(cells ...string))) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	rows(func(cells ...string) {
		for len(cells) > 0 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		fmt.Fprintln(w, "  "+strings.Join(cells, "\t"))
	})
	_ = w.Flush() // a strings.Builder takes everything
	if text.Len() > 0 {
		fmt.Fprintf(b, "\n%s\n%s", title, text.String())
	}
}

// RowsText is rows for people; with steps, each is followed by its reasons.
func RowsText(rows []Row, steps bool) string {
	enis := slices.ContainsFunc(rows, func(r Row) bool { return len(r.PerENI) > 0 })
	prefixes := slices.ContainsFunc(rows, func(r Row) bool { return r.Prefixes > 0 })
	cells := func(r Row) []string {
		list := []string{strconv.Itoa(r.Pods)}
		if enis {
			list = append(list, strconv.Itoa(len(r.PerENI)))
		}
		if prefixes {
			list = append(list, strconv.Itoa(r.Prefixes))
		}
		list = append(list, strconv.Itoa(r.Held), strconv.Itoa(r.Available), strconv.Itoa(r.Waiting), strconv.Itoa(len(r.Steps)))
		if enis {
			list = append(list, joined(r.PerENI))
		}
		return list
	}
	heads := []string{"pods"}
	if enis {
		heads = append(heads, "ENIs")
	}
	if prefixes {
		heads = append(heads, "prefixes")
	}
	heads = append(heads, "addresses", "available", "waiting", "requests")
	if enis {
		heads = append(heads, "addresses per ENI")
	}
	var b strings.Builder
	lines := columns(heads, rows, cells)
	for i, line := range lines {
		b.WriteString(line + "\n")
		if i == 0 || !steps {
			continue
		}
		for k, step := range rows[i-1].Steps {
			fmt.Fprintf(&b, "    %d. %s\n", k+1, step)
		}
	}
	return b.String()
}

// columns are a heading and one line for each item.
func columns[T any](heads []string, items []T, cells func(T) []string) []string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	for _, item := range items {
		fmt.Fprintln(w, strings.Join(cells(item), "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

func joined(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// DocumentedText is upstream's tables for people, each row with what this package works out.
func DocumentedText(list []Documented) string {
	agree := 0
	heads := []string{"instance", "targets", "pods", "documented ENIs", "units", "unused", "per ENI", "worked out ENIs", "units", "unused", "per ENI", "agrees"}
	lines := columns(heads, list, func(d Documented) []string {
		verdict := "yes"
		if d.Agrees() {
			agree++
		} else if verdict = "no"; d.Note != "" {
			verdict = "no: " + d.Note
		}
		figures := func(f Figures) []string {
			return []string{strconv.Itoa(f.ENIs), strconv.Itoa(f.Units), strconv.Itoa(f.Unused), joined(f.PerENI)}
		}
		return slices.Concat([]string{d.InstanceType, targetsText(d), strconv.Itoa(d.Pods)}, figures(d.Documented), figures(d.Worked), []string{verdict})
	})
	return strings.Join(lines, "\n") + fmt.Sprintf("\n%d of %d rows agree; units are addresses, or prefixes with WARM_PREFIX or /28\n", agree, len(list))
}

func targetsText(d Documented) string {
	t := d.Targets
	switch {
	case t.Addressed() && d.Prefixes:
		return fmt.Sprintf("WARM_IP %d MINIMUM_IP %d /28", t.WarmIP, t.MinimumIP)
	case t.Addressed():
		return fmt.Sprintf("WARM_IP %d MINIMUM_IP %d", t.WarmIP, t.MinimumIP)
	case d.Prefixes:
		return fmt.Sprintf("WARM_PREFIX %d", t.WarmPrefix)
	}
	return fmt.Sprintf("WARM_ENI %d", t.WarmENI)
}

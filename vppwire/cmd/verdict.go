package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/internal/conformance"
)

// verdictLines is how many violations of one law, and how many pairs of nodes, are printed; --format json and --out
// have all.
const verdictLines = 10

// verdict is a conformance run as a person reads it: what is broken first, then what held, then what was not judged.
type verdict struct {
	conformance.Result
	broken, held, silent []string
}

func verdictOf(r conformance.Result) verdict {
	v := verdict{Result: r}
	for _, law := range append(conformance.Laws(), audit.Laws()...) {
		switch {
		case len(v.of(law)) > 0:
			v.broken = append(v.broken, law)
		case r.Occasions[law] > 0:
			v.held = append(v.held, law)
		default:
			v.silent = append(v.silent, law)
		}
	}
	return v
}

// of are the violations of a law.
func (v verdict) of(law string) (broken []conformance.Violation) {
	for _, b := range v.Broken {
		if b.Law == law {
			broken = append(broken, b)
		}
	}
	return broken
}

func (v verdict) print(out io.Writer) {
	fmt.Fprintln(out, v.headline())
	for _, law := range v.broken {
		broken := v.of(law)
		fmt.Fprintf(out, "\nbroken %s, %s: %s\n", law, cli.Counted(len(broken), "time"), whyOf(law))
		if law == conformance.LawPods {
			v.paths(out)
		}
		for _, b := range broken[:min(len(broken), verdictLines)] {
			fmt.Fprintf(out, "  %s\n", inRound(b))
		}
		if more := len(broken) - verdictLines; more > 0 {
			fmt.Fprintf(out, "  and %d more: --format json or --out DIR lists all\n", more)
		}
	}
	fmt.Fprintln(out)
	for _, law := range v.held {
		fmt.Fprintf(out, "held  %-20s %s\n", law, cli.Counted(v.Occasions[law], "occasion"))
	}
	var reasons []string
	laws := map[string][]string{} // by the reason
	for _, law := range v.silent {
		why := v.why(law)
		if laws[why] == nil {
			reasons = append(reasons, why)
		}
		laws[why] = append(laws[why], law)
	}
	for _, why := range reasons {
		fmt.Fprintf(out, "not judged, as %s: %s\n", why, strings.Join(laws[why], ", "))
	}
	for _, n := range v.Notes {
		fmt.Fprintln(out, "note:", n)
	}
}

// headline is the run in one line.
func (v verdict) headline() string {
	var b strings.Builder
	judged := len(v.broken) + len(v.held)
	switch {
	case len(v.broken) > 0:
		fmt.Fprintf(&b, "%d of %s broken: %s", len(v.broken), cli.Counted(judged, "law"), strings.Join(v.broken, ", "))
	case judged == 0:
		b.WriteString("no law was judged")
	default:
		fmt.Fprintf(&b, "%s held", cli.Counted(judged, "law"))
	}
	if len(v.silent) > 0 {
		fmt.Fprintf(&b, ", %d not judged", len(v.silent))
	}
	fmt.Fprintf(&b, "; %s, %s", cli.Counted(v.Nodes, "node"), cli.Counted(v.Rounds, "round"))
	if v.Namespace == "" {
		b.WriteString(": files show no more")
	}
	if len(v.Started) > 0 {
		fmt.Fprintf(&b, ", all pods of a round ready within %s at most", slices.Max(v.Started).Round(10*time.Millisecond))
	}
	return b.String()
}

// paths says between which nodes calls failed, where that says more than the calls one by one.
func (v verdict) paths(out io.Writer) {
	var failed []conformance.Path
	for _, p := range v.Paths {
		if p.Failed > 0 {
			failed = append(failed, p)
		}
	}
	switch {
	case len(v.Paths) < 2:
		return // one node
	case len(failed) == len(v.Paths):
		fmt.Fprintln(out, "  calls fail between all nodes")
	default:
		fmt.Fprintf(out, "  calls fail between %d of %d pairs of nodes\n", len(failed), len(v.Paths))
	}
	for _, p := range failed[:min(len(failed), verdictLines)] {
		fmt.Fprintf(out, "    from %s to %s: %d of %d\n", p.From, p.To, p.Failed, p.Calls)
	}
	if more := len(failed) - verdictLines; more > 0 {
		fmt.Fprintf(out, "    and %s more\n", cli.Counted(more, "pair"))
	}
}

// why is the reason for which a law was not judged.
func (v verdict) why(law string) string {
	switch {
	case !slices.Contains(conformance.Laws(), law):
		return "there is nothing to judge it by"
	case v.Namespace == "":
		return "files show no pods at work"
	case law == conformance.LawRoll && v.Occasions[conformance.LawPods] > 0:
		return "--roll NAMESPACE/NAME was not asked for"
	case law == conformance.LawDrain && v.Occasions[conformance.LawPods] > 0:
		return "--drain was not asked for"
	}
	return "the run did not come to it"
}

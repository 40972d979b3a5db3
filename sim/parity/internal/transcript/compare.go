package transcript

import (
	"regexp"
	"slices"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
)

// drawn are the first bytes of every MAC that VPP draws (src/vppinfra/... ethernet_mac_address_generate).
var drawn = [2]byte{0x02, 0xfe}

// Canonical is Text without what is no fact: it differs from one run of VPP to the next.
func Canonical(m api.Message) string {
	return mask(Text(m), m.GetMessageName(), volatile)
}

// Folders is what the names of folders of real VPPs that are compared begin with. What is below one, memif sockets among it,
// shows as below /run/vpp, the model's.
const Folders = "vppdrill-parity-"

var ownFolder = regexp.MustCompile(`/\S*/` + Folders + `[^/]+`)

// Lines are the canonical lines of answers, sorted where they are a dump's: VPP sends some of them in the order of a
// hash.
func Lines(answers []api.Message) []string {
	lines := make([]string, len(answers))
	for i, m := range answers {
		lines[i] = Canonical(m)
	}
	return sorted(lines)
}

func sorted(lines []string) []string {
	lines = slices.Clone(lines)
	slices.SortFunc(lines, func(a, b string) int {
		// The reply that ends a dump of the newer kind stays last.
		if x, y := isReply(a), isReply(b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	return lines
}

func messageOf(line string) string {
	name, _, _ := strings.Cut(line, " ")
	return name
}

func isReply(line string) bool { return strings.HasSuffix(messageOf(line), "_reply") }

// mask leaves words out.
func mask(line, message string, hide []hidden) string {
	words, err := split(line)
	if err != nil {
		return line
	}
	kept := words[:1]
	refused := strings.Contains(line, " retval=") // a zero is not written
	for _, w := range words[1:] {
		field, value, _ := strings.Cut(w, "=")
		if strings.Contains(value, Folders) {
			w = field + "=" + ownFolder.ReplaceAllLiteralString(value, "/run/vpp")
		}
		if isDrawn(value) {
			w = field + "=drawn"
		}
		if !slices.ContainsFunc(hide, func(h hidden) bool { return h.hides(message, field, refused) }) {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

func isDrawn(value string) bool {
	m, err := ethernet_types.ParseMacAddress(value)
	return err == nil && strings.Count(value, ":") == 5 && [2]byte(m[:2]) == drawn
}

// hidden is a field that is not compared. An empty message is any. "retval x" is the field x of a refusal.
type hidden struct {
	message, field string
	gap            string // the name of the gap; empty where the field is no fact
}

func (h hidden) hides(message, field string, refused bool) bool {
	last := field[strings.LastIndexByte(field, '.')+1:]
	name, ofRefusal := strings.CutPrefix(h.field, "retval ")
	return (h.message == "" || h.message == message) && (name == field || name == last) && (refused || !ofRefusal)
}

// volatile differs between two runs of the same VPP.
var volatile = []hidden{
	{field: "stats_index"},
	{message: "control_ping_reply", field: "vpe_pid"},
	{message: "control_ping_reply", field: "client_index"},
	{message: "show_version_reply", field: "build_date"},
	{message: "show_version_reply", field: "build_directory"},
	{message: "ip_neighbor_details", field: "age"},
	{message: "sw_interface_event", field: "pid"},
	{message: "acl_plugin_control_ping_reply", field: "vpe_pid"},
	{message: "acl_plugin_control_ping_reply", field: "client_index"},
}

// Difference is what two VPPs answer differently to one request: the lines that only one of them has.
type Difference struct {
	Request string
	// Want is the real VPP's, Got the model's.
	Want, Got []string
}

// String is the difference in lines: the request, "- " what VPP answers, "+ " what the model answers.
func (d *Difference) String() string {
	var b strings.Builder
	b.WriteString("> " + d.Request)
	for _, l := range d.Want {
		b.WriteString("\n- " + l)
	}
	for _, l := range d.Got {
		b.WriteString("\n+ " + l)
	}
	return b.String()
}

// Compare compares canonical answers to one request. It returns nil where they are equal, and the names of the gaps
// that were needed for it.
func Compare(request string, want, got []string) (*Difference, []string) {
	if gap := unasked(want, got); gap != "" {
		return nil, []string{gap}
	}
	used := map[string]bool{}
	w, g := filter(want, used), filter(got, used)
	onlyW, onlyG := subtract(w, g), subtract(g, w)
	if len(onlyW) == 0 && len(onlyG) == 0 {
		return nil, gapsNeeded(want, got, used)
	}
	return &Difference{Request: request, Want: onlyW, Got: onlyG}, nil
}

// filter applies the gaps to lines.
func filter(lines []string, used map[string]bool) []string {
	var out []string
	for _, l := range lines {
		if name := skipped(l); name != "" {
			used[name] = true
			continue
		}
		masked := mask(l, messageOf(l), fieldGaps)
		if masked != l {
			for _, h := range fieldGaps {
				if mask(l, messageOf(l), []hidden{h}) != l {
					used[h.gap] = true
				}
			}
		}
		out = append(out, masked)
	}
	return sorted(out)
}

// gapsNeeded lists the used gaps where the answers differ without them.
func gapsNeeded(want, got []string, used map[string]bool) []string {
	if slices.Equal(sorted(want), sorted(got)) {
		return nil
	}
	var names []string
	for n := range used {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// subtract returns the lines of a that b has not, counting repeats.
func subtract(a, b []string) []string {
	left := map[string]int{}
	for _, l := range b {
		left[l]++
	}
	var out []string
	for _, l := range a {
		if left[l] > 0 {
			left[l]--
			continue
		}
		out = append(out, l)
	}
	return out
}

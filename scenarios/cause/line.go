package cause

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// harms are the words by which a line ends with an injected fault, and their meaning.
var harms = []struct{ word, text string }{
	{"Mute", "its reply is lost"},
	{"Vanish", "it is lost on its way"},
	{"Refuse", "it is refused"},
	{"Delay", "its reply is late"},
	{"Duplicate", "it comes twice"},
	{"CrashBefore", "the program dies before it"},
	{"CrashAfter", "the program dies after it"},
	{"Compact", "the store forgets its history first"},
	{"PowerLoss", "the machine loses power meanwhile"},
}

// tellLine describes an event line; weight 0 is a line that explains nothing.
func (r *Recorder) tellLine(line string) (text string, w weight) {
	word, rest, _ := strings.Cut(line, " ")
	for _, h := range harms {
		if cut, ok := strings.CutSuffix(line, " "+h.word); ok {
			text, _ = r.tellLine(cut)
			if text == "" {
				text = cut
			}
			return text + "; an injected fault: " + h.text, doing
		}
	}
	switch word {
	case "action":
		return "the timeline does " + rest, doing
	case "heal":
		return "every fault ends", routine
	case "link":
		return r.tellLink(rest)
	case "watch":
		from, what, _ := strings.Cut(rest, " ")
		_, to, _ := strings.Cut(from, ">")
		return to + " is notified: " + r.named(what), routine
	case "kubelet":
		node, what, _ := strings.Cut(rest, " ")
		verb, what, _ := strings.Cut(what, " ")
		pod, _, _ := strings.Cut(what, " ")
		return node + "'s kubelet asks to " + verb + " " + pod, routine
	case "scheduler", "informer":
		return "", 0
	}
	return r.tellNode(word, rest)
}

// tellLink describes a request or an answer between a node and a server.
func (r *Recorder) tellLink(rest string) (string, weight) {
	way, what, _ := strings.Cut(rest, " ")
	from, to, _ := strings.Cut(way, ">")
	lost, isLost := strings.CutPrefix(what, "lost ")
	switch {
	case isLost:
		return "lost between " + from + " and " + to + ": " + r.named(lost), turning
	case from == "store" || from == "api":
		w := routine
		if strings.Contains(what, ": conflict") {
			w = touching
		}
		return "the " + server(from) + " answers " + to + ": " + r.named(what), w
	}
	return from + " asks the " + server(to) + ": " + r.named(what), routine
}

func server(name string) string {
	if name == "api" {
		return "API server"
	}
	return name
}

// tellNode describes an event on one node.
func (r *Recorder) tellNode(node, rest string) (string, weight) {
	verb, what, _ := strings.Cut(rest, " ")
	switch verb {
	case "call":
		message, object, _ := strings.Cut(what, " ")
		if object == "dump" {
			return node + "'s agent reads " + message, routine
		}
		return node + "'s agent calls " + message + ": " + r.named(object), touching
	case "cni":
		command, container, _ := strings.Cut(what, " ")
		return "the runtime of " + node + " asks " + strings.ToUpper(command) + " of " + r.pod(container), routine
	case "synced":
		return "the journal of " + node + " is on disk up to record " + what, routine
	case "wake":
		return "", 0
	case "answer:":
		return node + "'s VPP or Linux answers: " + what, touching
	case "no", "request", "late", "refused":
		return node + "'s agent gets no answer in time", touching
	case "vpp", "agent":
		return verb + " of " + node + " " + strings.TrimPrefix(what, ": "), turning
	case "journal:":
		return "the journal of " + node + ": " + what, turning
	case "ec2", "ec#", "ipamd":
		return strings.TrimSuffix(node, ":") + "'s ipamd " + tellIPAMD(verb, r.named(what)), routine
	}
	if strings.HasPrefix(node, "node-") {
		return node + ": " + r.named(rest), routine
	}
	return node + " " + r.named(rest), routine
}

// tellIPAMD describes calls and inputs of an ipamd. The numbers of its calls are left out.
func tellIPAMD(verb, what string) string {
	if verb == "ipamd" && what == "" {
		return "starts"
	}
	number, call, more := strings.Cut(what, " ")
	switch {
	case !more || number != "#" && strings.Trim(number, "0123456789") != "":
		if answered, ok := strings.CutPrefix(what, "answers "); ok {
			return "is answered: " + answered
		}
		return what
	case verb == "ipamd":
		return "reports for its call " + call
	}
	return "calls " + call
}

// Patterns of subjects in lines, facts and laws.
var (
	addressPattern   = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+(/[0-9]+)?|[0-9a-f]*:[0-9a-f]*:[0-9a-f:]+(/[0-9]+)?`)
	containerPattern = regexp.MustCompile(`\b[0-9a-f]{12,64}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	podPattern       = regexp.MustCompile(`\b[a-z0-9]+/[a-z0-9][-a-z0-9.]*\b`)
	nodePattern      = regexp.MustCompile(`\bnode-[0-9]+\b`)
	recordPattern    = regexp.MustCompile(`allocatedIDs/([0-9]+)\b|\b(?:ID|record) ([0-9]+)\b`)
	devicePattern    = regexp.MustCompile(`\b(?:tap[0-9]+|host-[-a-z0-9]+|vxlan_tunnel[0-9]+|loop[0-9]+)\b`)
	valuePattern     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// named replaces containers by pod names, and leaves long values out.
func (r *Recorder) named(text string) string {
	if head, record, ok := strings.Cut(text, " to its journal: "); ok && strings.HasPrefix(head, "writes record ") {
		return head + " to its journal: " + r.record(record)
	}
	text = valuePattern.ReplaceAllStringFunc(text, func(v string) string {
		if value, ok := readable(v, r.whole); ok {
			return value
		}
		return "…"
	})
	text = containerPattern.ReplaceAllStringFunc(text, func(id string) string {
		if pod := r.pods[head(strings.ReplaceAll(id, "-", ""))]; pod != "" {
			return pod
		}
		return id
	})
	most := 160
	if r.whole {
		most = 400
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// record is a record of a journal in words.
func (r *Recorder) record(line string) string {
	holder := "a pod"
	if id := containerPattern.FindString(line); id != "" {
		holder = r.pod(strings.ReplaceAll(id, "-", ""))
	}
	return journalRecord(line, holder)
}

// about lists the subjects of a text, by kind and name: "a:10.1.2.3", "b:10.1.2.0/24", "p:default/web-0", "n:node-2",
// "i:118", "d:tap3". A device belongs to a node.
func (r *Recorder) about(node, text string) []string {
	var out []string
	for _, a := range addressPattern.FindAllString(text, -1) {
		if p, err := netip.ParsePrefix(a); err == nil {
			if p.IsSingleIP() {
				out = append(out, "a:"+p.Addr().String())
			} else if p.Bits() > 0 {
				out = append(out, "b:"+p.Masked().String())
			}
		} else if addr, err := netip.ParseAddr(a); err == nil {
			out = append(out, "a:"+addr.String())
		}
	}
	for _, id := range containerPattern.FindAllString(text, -1) {
		if pod := r.pods[head(strings.ReplaceAll(id, "-", ""))]; pod != "" {
			out = append(out, "p:"+pod)
		}
	}
	for _, pod := range podPattern.FindAllString(text, -1) {
		if strings.HasPrefix(pod, "default/") || strings.HasPrefix(pod, "kube-system/") {
			out = append(out, "p:"+pod)
		}
	}
	for _, n := range nodePattern.FindAllString(text, -1) {
		out = append(out, "n:"+n)
	}
	for _, at := range recordPattern.FindAllStringSubmatchIndex(text, -1) {
		if strings.HasSuffix(text[:at[0]], "writes ") || strings.HasSuffix(text[:at[0]], "up to ") {
			continue // a journal record's number, not an ID
		}
		for g := 2; g < len(at); g += 2 {
			if at[g] >= 0 {
				out = append(out, "i:"+text[at[g]:at[g+1]])
			}
		}
	}
	for _, d := range devicePattern.FindAllString(text, -1) {
		out = append(out, "d:"+node+" "+d)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// NodeOf is the node of a line, or empty.
func NodeOf(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	if word = strings.TrimSuffix(word, ":"); strings.HasPrefix(word, "node-") {
		return word
	}
	if n := nodePattern.FindString(rest); n != "" {
		return n
	}
	return ""
}

// aboutFact lists the subjects of a fact.
func (r *Recorder) aboutFact(f *fact.Fact) []string {
	text, _ := words(r, f)
	out := r.about(f.Node, text)
	block := func(p netip.Prefix) {
		if p.IsValid() {
			out = append(out, "b:"+p.String())
		}
	}
	switch x := f.What.(type) {
	case fact.NodeBlocks:
		for _, b := range x.Blocks {
			block(b.Prefix)
		}
	case fact.Assigned:
		for _, b := range x.Blocks {
			block(b.Prefix)
		}
	case fact.Leased:
		block(x.Block)
	case fact.Released:
		block(x.Block)
	case fact.Range:
		block(x.Range)
	case fact.RecordChange:
		for _, n := range [...]string{x.Before.Name, x.After.Name} {
			if n != "" {
				out = append(out, "n:"+n)
			}
		}
	case fact.Removed:
		if x.Removal.Name != "" {
			out = append(out, "d:"+f.Node+" "+x.Removal.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

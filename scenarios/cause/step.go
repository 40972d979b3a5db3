package cause

import (
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// step is one action of an actor, in a text without names, so that steps of different runs can be compared: "@ call
// ip_table_add_del_v2 add table #" of a node.
type step struct {
	actor, text string
	// values are its numbers; text has a placeholder for each.
	values []string
}

// stepOf is the step of an event line. An answer or a watch event is a step of its receiver.
func (r *Recorder) stepOf(line string) step {
	for _, h := range harms { // an injected fault is not part of the step
		line = strings.TrimSuffix(line, " "+h.word)
	}
	word, rest, _ := strings.Cut(line, " ")
	actor := strings.TrimSuffix(word, ":")
	switch word {
	case "link", "watch":
		way, what, _ := strings.Cut(rest, " ")
		from, to, _ := strings.Cut(way, ">")
		if from == "store" || from == "api" {
			return made(to, word+" "+from+">@ ", what)
		}
		return made(from, word+" @>"+to+" ", what)
	case "kubelet", "informer":
		who, what, _ := strings.Cut(rest, " ")
		return made(who, word+" @ ", what)
	}
	return made(actor, "@ ", rest)
}

// stepOfFact is the step of a fact; its text is empty for one that explains nothing.
func (r *Recorder) stepOfFact(f *fact.Fact) step {
	text, say := words(r, f)
	if !say || f.Node == "" {
		return step{}
	}
	return made(f.Node, "fact ", strings.ReplaceAll(text, f.Node, "@"))
}

func made(actor, head, rest string) step {
	x := step{actor: actor}
	x.text = head + x.plain(rest)
	return x
}

// class is an actor's kind of process: all nodes are one, and all replicas of a controller.
func (r *Recorder) class(actor string) string {
	if r.nodes[actor] || strings.HasPrefix(actor, "node-") {
		return "node"
	}
	if at := strings.LastIndexByte(actor, '-'); at > 0 && strings.Trim(actor[at+1:], "0123456789") == "" {
		return actor[:at]
	}
	return actor
}

// plain replaces names and numbers by placeholders.
func (x *step) plain(text string) string {
	var out strings.Builder
	former := ""
	for len(text) > 0 {
		if text[0] == '"' { // a value, which may have spaces
			end := 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			out.WriteString("…")
			text = text[min(end+1, len(text)):]
			continue
		}
		end := strings.IndexAny(text, " \"")
		switch {
		case end == 0:
			out.WriteByte(' ')
			text = text[1:]
			continue
		case end < 0:
			end = len(text)
		}
		word := text[:end]
		text = text[end:]
		tail := ""
		if trimmed := strings.TrimRight(word, ":,;.)"); trimmed != word && trimmed != "" && !strings.HasSuffix(word, "::") {
			word, tail = trimmed, word[len(trimmed):]
		}
		sign := plainWord(word, former)
		if sign == "#" && len(word) < 8 {
			x.values = append(x.values, word)
		}
		out.WriteString(sign)
		out.WriteString(tail)
		former = word
	}
	return out.String()
}

// plainWord is one word; the word before says what a number counts.
func plainWord(word, former string) string {
	if strings.HasPrefix(word, "/var/run/netns/") {
		return "NETNS"
	}
	if strings.HasPrefix(word, "default/") || strings.HasPrefix(word, "kube-system/") {
		return "POD"
	}
	if key, value, ok := strings.Cut(word, "="); ok && value != "" {
		return key + "=" + plainWord(value, "")
	}
	digit := strings.IndexAny(word, "0123456789")
	colons := strings.Count(word, ":")
	if colons >= 2 || digit >= 0 && strings.Count(word, ".") == 3 {
		return plainAddress(word, colons)
	}
	if digit < 0 {
		return word
	}
	if slash := strings.LastIndexByte(word[:digit], '/'); slash >= 0 {
		return word[:slash+1] + "#"
	}
	switch former {
	case "table", "bd", "shg", "lookup":
		if len(word) == 1 {
			return word
		}
	}
	if word == "ip4" || word == "ip6" {
		return word
	}
	if strings.IndexByte(word, '_') > 0 { // a message of VPP, with its version
		return word
	}
	if isHex(word) {
		return "#"
	}
	for _, head := range [...]string{"host-v", "v"} { // devices that are named after sandboxes
		if rest, ok := strings.CutPrefix(word, head); ok && isHex(rest) {
			return head + "#"
		}
	}
	return strings.TrimRight(word[:digit], "-") + "#"
}

// plainAddress distinguishes MACs, families, single addresses, default routes and other prefixes.
func plainAddress(word string, colons int) string {
	_, bits, ranged := strings.Cut(word, "/")
	switch {
	case colons == 5 && !strings.Contains(word, "::"):
		return "MAC"
	case colons >= 2 && ranged && bits != "128" && bits != "0":
		return "PREFIX6"
	case colons >= 2:
		return "IP6"
	case ranged && bits == "0":
		return "ANY"
	case ranged && bits != "32":
		return "PREFIX"
	}
	return "IP"
}

func isHex(word string) bool {
	if len(word) < 8 {
		return false
	}
	for i := range len(word) {
		if c := word[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') && c != '-' {
			return false
		}
	}
	return true
}

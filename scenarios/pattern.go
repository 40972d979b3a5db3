package scenarios

import (
	"reflect"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// pattern is one way of spelling text.
type pattern struct {
	// regexp is for the schema; match is what the parser uses, and a test holds the two together.
	regexp string
	match  func(string) bool
	// want completes `"…" is not`.
	want string
}

// patterns are the values of the pattern tag.
var patterns = map[string]pattern{
	"word":      {`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`, isWord, "a name of lower case letters, digits, hyphens and dots"},
	"node":      {`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`, isNode, "a node name of lower case letters, digits, hyphens and dots"},
	"pod":       {`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`, isPod, "a pod as namespace/name"},
	"interface": {`^[!-~]{1,63}$`, isInterface, "an interface name of at most 63 ASCII characters"},
	"item":      {`^[!-~]{1,200}$`, isItem, "text of at most 200 ASCII characters without blanks"},
	"fault": {`^(\([ -~]*\)|[A-Za-z]+)$`, isFault,
		"a fault such as (Nth 1 (Request tap_create_v3 Mute)): ASCII words in balanced parentheses"},
}

// checkText judges text for a field of a string type.
func checkText(t reflect.Type, tag reflect.StructTag, text string) *strictyaml.ValueError {
	if words := wordsOf(t, tag); words != nil {
		return strictyaml.CheckWords(words, text)
	}
	switch t {
	case typeNodeRef:
		if text == string(AllNodes) && tag.Get("one") == "true" {
			return strictyaml.Wrong(text, "must be one node here")
		}
		if !isWord(text) {
			return strictyaml.Wrong(text, "is not a node's name, all or any")
		}
		return nil
	case typeEndpoint:
		if !isWord(text) || text == string(AllNodes) {
			return strictyaml.Wrong(text, "is not a node's name, any, api or store")
		}
		return nil
	case typeNIC:
		if p := patterns["interface"]; !p.match(text) {
			return strictyaml.Wrong(text, "is not %s", p.want)
		}
		return nil
	}
	p, ok := patterns[tag.Get("pattern")]
	if !ok {
		panic("scenarios: text field of type " + t.String() + " without enum or pattern")
	}
	if !p.match(text) {
		e := strictyaml.Wrong(text, "is not %s", p.want)
		if low := strings.ToLower(text); low != text && p.match(low) {
			e.Nearest = low
		}
		return e
	}
	return nil
}

// isInterface accepts what VPP takes for an interface's name.
func isInterface(s string) bool { return isVisible(s, 63) }

func isItem(s string) bool { return isVisible(s, 200) }

// isVisible accepts 1 to most characters of ASCII that show.
func isVisible(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// isWord accepts lower case DNS-like names of at most 63 characters: what Kubernetes takes for names of objects.
func isWord(s string) bool {
	if s == "" || len(s) > 63 || !isAlnum(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// isNode is isWord without the words that stand for something else where a node is named.
func isNode(s string) bool {
	switch s {
	case string(AllNodes), string(AnyNode), string(APIServer), string(Store):
		return false
	}
	return isWord(s)
}

func isPod(s string) bool {
	namespace, name, ok := strings.Cut(s, "/")
	return ok && isWord(namespace) && isWord(name)
}

// isFault accepts one s-expression of printable ASCII on one line: a word, or balanced parentheses with words and quoted
// names inside. What its words mean, the world knows.
func isFault(s string) bool {
	if s == "" || s[0] != '(' {
		return s != "" && strings.TrimFunc(s, func(r rune) bool { return r < 0x80 && isLetter(byte(r)) }) == ""
	}
	depth, quoted, escaped := 0, false, false
	for i := range len(s) {
		c := s[i]
		switch {
		case c < ' ' || c > '~':
			return false
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		if depth == 0 && i < len(s)-1 {
			return false
		}
	}
	return depth == 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsName reports whether text can be the name of a scenario, node, pod or application: lower case letters, digits,
// hyphens and dots, at most 63.
func IsName(text string) bool { return isWord(text) }

package scenarios

import (
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// sameDeeds are words for much the same deed, of which an action's verb has one.
var sameDeeds = [][]string{
	{"kill", "crash", "stop"}, {"delete", "remove"}, {"create", "add"}, {"restart", "reboot"},
}

// nearestVerb is the action that somebody may have meant: the same deed in another word, done to the same thing, or else what is spelt much
// like it; "" for none.
func nearestVerb(word string) string {
	all := Verbs()
	deed, to, _ := strings.Cut(strings.ToLower(word), "-")
	for _, deeds := range sameDeeds {
		if !slices.Contains(deeds, deed) {
			continue
		}
		for _, other := range deeds {
			for _, thing := range [...]string{to, to + "s"} {
				if verb := other + "-" + thing; slices.Contains(all, verb) {
					return verb
				}
			}
		}
	}
	return strictyaml.Nearest(word, all)
}

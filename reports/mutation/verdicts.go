package mutation

import (
	"slices"
	"strconv"
	"strings"
)

// verdictOf takes a verdict line of `vppdrill run` apart: the scenario with its seed, and what the run did: its events and its digest.
func verdictOf(words []string) (name, did string) {
	for i, w := range words {
		if w == "seed" && i+2 < len(words) {
			return words[1] + " " + words[i+1], words[i+2] + " " + words[len(words)-1]
		}
	}
	return strings.Join(words, " "), ""
}

// seedOf is the seed of a verdict line, 0 where it names none.
func seedOf(words []string) uint64 {
	i := slices.Index(words, "seed") + 1
	if i == 0 || i == len(words) {
		return 0
	}
	seed, _ := strconv.ParseUint(words[i], 10, 64)
	return seed
}

package strictyaml

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that word most likely meant: the fewest edits, at most a third of its length (at least
// one), the earlier candidate on a tie; "" when none is that near. Case costs nothing, and two neighbors that changed
// places cost one edit. Where none is near, it is the first candidate that begins with the word, if that has three
// letters.
func Nearest(word string, candidates []string) string {
	best, bestEdits := "", max(1, len(word)/3)+1
	word = strings.ToLower(word)
	for _, c := range candidates {
		if n := edits(word, strings.ToLower(c)); n < bestEdits {
			best, bestEdits = c, n
		}
	}
	if i := slices.IndexFunc(candidates, func(c string) bool { return strings.HasPrefix(strings.ToLower(c), word) }); best == "" && len(word) > 2 && i >= 0 {
		return candidates[i]
	}
	return best
}

// edits is the Levenshtein distance, or one more than that of the word with two neighbors swapped where that is less.
func edits(word, candidate string) int {
	n := levenshtein.ComputeDistance(word, candidate)
	if n < 2 {
		return n
	}
	for i := 1; i < len(word); i++ {
		if i < len(candidate) && word[i-1] == candidate[i] && word[i] == candidate[i-1] && word[i] != word[i-1] {
			swapped := word[:i-1] + word[i:i+1] + word[i-1:i] + word[i+1:]
			n = min(n, 1+levenshtein.ComputeDistance(swapped, candidate))
		}
	}
	return n
}

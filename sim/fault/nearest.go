package fault

import "strings"

// nearest returns the word that takes the fewest edits to reach from s, letter case aside; the first of equals. A word
// that s is the beginning of is one edit away.
func nearest(s string, words []string) string {
	s = strings.ToLower(s)
	best, least := "", 1<<30
	for _, w := range words {
		lower := strings.ToLower(w)
		d := edits(s, lower)
		if s != "" && strings.HasPrefix(lower, s) {
			d = min(d, 1)
		}
		if d < least {
			best, least = w, d
		}
	}
	return best
}

// edits is the number of bytes to insert, delete or change between a and b (Levenshtein), row by row.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

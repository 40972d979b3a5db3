package noun

import (
	"fmt"
	"strings"
)

// Of is a noun as it stands behind a number: "pod" of one, "pods" of any other. Of several words the last one changes.
func Of[N ~int | ~int64 | ~uint64](n N, word string) string {
	switch {
	case n == 1:
		return word
	case endsIn(word, "s", "x", "ch", "sh"):
		return word + "es"
	case endsIn(word, "by", "cy", "fy", "ly", "ny", "py", "ry", "ty"):
		return word[:len(word)-1] + "ies"
	}
	return word + "s"
}

// Count is a number of things: "1 pod", "2 pods".
func Count[N ~int | ~int64 | ~uint64](n N, word string) string {
	return fmt.Sprintf("%d %s", n, Of(n, word))
}

// A is a noun behind its article: "an address", "a unit".
func A(word string) string {
	first := strings.ToLower(word)
	vowel := strings.HasPrefix(first, "hour") || first != "" && strings.Contains("aeiou", first[:1])
	for _, spoken := range [...]string{"uni", "use", "usu", "one", "eu"} { // as "you" and "won"
		vowel = vowel && !strings.HasPrefix(first, spoken)
	}
	if vowel {
		return "an " + word
	}
	return "a " + word
}

func endsIn(word string, ends ...string) bool {
	for _, end := range ends {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}

package normalized

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// podName finds a pod by its "namespace/name".
var podName = regexp.MustCompile(`pod ([a-z0-9.-]+/[a-z0-9.-]+)`)

// Differences are what only one of two states has, in the order of lines. Pods that only one has, because chance decided
// which were deleted, are named once, and what concerns them is compared with what the other has of any pod.
func Differences(a, b []string) (onlyA, onlyB []string) {
	podsA, podsB := podsOf(a), podsOf(b)
	strangersA, strangersB := missing(podsA, podsB), missing(podsB, podsA)
	return only(a, b, strangersA), only(b, a, strangersB)
}

// podsOf are the pods that a state names, each with the node that a line is about: the scheduler's choice is chance, too.
func podsOf(lines []string) map[string]bool {
	pods := map[string]bool{}
	for _, l := range lines {
		for pod := range podsIn(l) {
			pods[pod] = true
		}
	}
	return pods
}

// podsIn yields the pods of one line.
func podsIn(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		node, _, _ := strings.Cut(line, ":")
		for _, m := range podName.FindAllStringSubmatch(line, -1) {
			if !yield(m[1] + " on " + node) {
				return
			}
		}
	}
}

// missing are those of a that b has not.
func missing(a, b map[string]bool) map[string]bool {
	out := maps.Clone(a)
	maps.DeleteFunc(out, func(pod string, _ bool) bool { return b[pod] })
	return out
}

// only are a's lines that b has not.
func only(a, b []string, strangers map[string]bool) (out []string) {
	if n := len(strangers); n > 0 {
		names := slices.Sorted(maps.Keys(strangers))
		more := ""
		if n > 3 {
			names, more = names[:3], ", …"
		}
		out = append(out, fmt.Sprintf("%d pods: %s%s", n, strings.Join(names, ", "), more))
	}
	exact, shapes := map[string]bool{}, map[string]bool{}
	for _, l := range b {
		exact[l], shapes[shape(l)] = true, true
	}
	for _, l := range a {
		if !concerns(l, strangers) {
			if !exact[l] {
				out = append(out, l)
			}
			continue
		}
		if l = shape(l); !shapes[l] {
			out, shapes[l] = append(out, l), true
		}
	}
	return out
}

func concerns(line string, pods map[string]bool) bool {
	for pod := range podsIn(line) {
		if pods[pod] {
			return true
		}
	}
	return false
}

// shape is a line with any pod in the place of its own.
func shape(line string) string { return podName.ReplaceAllString(line, "pod *") }

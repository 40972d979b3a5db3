package reports

import (
	"fmt"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// tailLine is one event line before a failure, with the fragment that chain lines link to.
type tailLine struct{ ID, Text string }

// tailOf gives event lines, which begin with their events' numbers, their fragments.
func tailOf(run string, lines []string) (out []tailLine) {
	known := map[string]bool{}
	for _, text := range lines {
		l := tailLine{Text: text}
		number, _, _ := strings.Cut(text, " ")
		if strings.Trim(number, "0123456789") == "" && number != "" && !known[number] {
			known[number], l.ID = true, fragment(run, number)
		}
		out = append(out, l)
	}
	return out
}

// chainLine is one line of a chain of causes and where its event is found without a script.
type chainLine struct {
	result.Link
	Href string
}

// chainOf links a chain's lines to their event lines, or to their run if the page does not have them.
func chainOf(run string, chain []result.Link, tail []tailLine) (out []chainLine) {
	there := map[string]bool{}
	for _, l := range tail {
		there[l.ID] = true
	}
	for _, l := range chain {
		c := chainLine{l, run}
		if id := fragment(run, fmt.Sprint(l.Event)); there[id] {
			c.Href = id
		}
		out = append(out, c)
	}
	return out
}

func fragment(run, event string) string { return run + "-e" + event }

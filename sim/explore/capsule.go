package explore

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Capsule is one failure in a file: how to make it happen and what must be seen then. Its text is a head of lines "word
// value", an empty line, and the scenario as in a file of its own, which also runs by itself.
type Capsule struct {
	// Version is the program that made the capsule. Other programs have other events.
	Version string
	Seed    uint64
	// Listed: decisions are those of Picks, and 0 where none is listed; else they come from Seed.
	Listed bool
	Picks  []Pick

	Verdict result.Verdict
	Digest  engine.Digest
	// Failure is the broken law and the first bad event. Before, After and Tail are not kept.
	Failure result.Failure

	Scenario *scenarios.Scenario
}

// Format is the version of the text, in a capsule's first line.
const Format = 1

const magic = "vppdrill capsule "

// String is the capsule's file; Parse reads it back.
func (c *Capsule) String() string {
	b := append([]byte(magic), strconv.Itoa(Format)...)
	b = append(b, '\n')
	b = appendHead(b, "version", c.Version)
	b = appendHead(b, "seed", strconv.FormatUint(c.Seed, 10))
	if c.Listed {
		b = append(b, "choices listed\n"...)
	}
	for _, p := range c.Picks {
		b = append(b, "pick "...)
		for _, n := range [...]int{p.Number, p.Of, p.Value} {
			b = append(strconv.AppendInt(b, int64(n), 10), ' ')
		}
		b = append(appendText(b, p.Label), '\n')
	}
	b = appendHead(b, "verdict", string(c.Verdict))
	b = appendHead(b, "digest", c.Digest.String())
	f := &c.Failure
	b = appendHead(b, "law", f.Law)
	b = appendHead(b, "what", f.What)
	if f.Node != "" {
		b = appendHead(b, "node", f.Node)
	}
	b = appendHead(b, "at", scenarios.FormatDuration(seconds(f.AtSeconds)))
	b = appendHead(b, "event", strconv.FormatInt(f.Event, 10))
	b = appendHead(b, "line", f.Line)
	b = append(b, '\n')
	return string(append(b, c.Scenario.Marshal()...))
}

func appendHead(b []byte, word, value string) []byte {
	b = append(append(b, word...), ' ')
	return append(appendText(b, value), '\n')
}

// appendText writes text as it is where it can be read back so, else quoted as in Go.
func appendText(b []byte, text string) []byte {
	if plainText(text) {
		return append(b, text...)
	}
	return strconv.AppendQuote(b, text)
}

// plainText: printable, not empty, without space around it, and not looking quoted.
func plainText(text string) bool {
	if text == "" || text[0] == '"' || strings.TrimSpace(text) != text || !utf8.ValidString(text) {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// seconds turns a result's seconds into a time, to the nanosecond as far as a float64 holds it.
func seconds(s float64) time.Duration { return time.Duration(s*float64(time.Second) + 0.5) }

// options are what the capsule says about a run.
func (c *Capsule) options(o sim.Options) sim.Options {
	o.Seed = c.Seed
	if c.Listed {
		o.Chooser = choosing(c.Picks)
	}
	return o
}

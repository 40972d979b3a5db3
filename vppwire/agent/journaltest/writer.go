package journaltest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// writer lives through a script: it asks for writes as an agent does, and holds the journal to what it was told.
type writer struct {
	machine Machine
	history history

	records int // written in all lives
	seq     uint64
	// givenUp is what the writer knows of failures; failed is the last write that failed, told or not.
	givenUp, failed uint64
	// replaced: a write behind the last failure replaced everything.
	replaced bool
	asked    []*asked
	log      []string
}

// asked is one write that has not been told of.
type asked struct {
	agent.Persist
	told bool
	err  error
}

// act does one word of a script:
//
//	a, r    ask for an append, a replacement; more of them before a w are asked for before anybody is told
//	A, R    the same by somebody who knows of no failure
//	w       let the journal work
//	k, p    kill the process, cut the power; the next life begins at once
func (w *writer) act(word byte) error {
	switch word {
	case 'a', 'r', 'A', 'R':
		w.ask(word)
	case 'w':
		return w.work()
	case 'k', 'p':
		return w.restart(word == 'p')
	default:
		panic("journaltest: no word " + strconv.QuoteRune(rune(word)))
	}
	return nil
}

func (w *writer) ask(word byte) {
	w.records++
	w.seq++
	a := &asked{Persist: agent.Persist{
		Seq: w.seq, GivenUp: w.givenUp, Replace: word == 'r' || word == 'R',
		Records: []agent.Record{{Kind: agent.RecordBoot, Boot: fmt.Sprint(string(word), w.records)}},
	}}
	if word == 'A' || word == 'R' {
		a.GivenUp = 0
	}
	w.asked = append(w.asked, a)
	w.machine.Persist(a.Persist, func(err error) { a.told, a.err = true, err })
}

// work judges what has been told, in the order of the requests.
func (w *writer) work() error {
	alive := w.machine.Work()
	before := w.failed // what failed before any of these was asked for has been told
	for i, a := range w.asked {
		if !a.told {
			if alive {
				return fmt.Errorf("nothing is told of write %d", a.Seq)
			}
			w.asked = w.asked[i:]
			return w.restart(false)
		}
		why := w.refusal(a.Persist)
		switch {
		case a.err == nil && why != "":
			return fmt.Errorf("write %d succeeds, %s", a.Seq, why)
		case a.err == nil:
			w.history.wrote(a.Persist)
			w.replaced = true
		case a.GivenUp >= before && (w.failed > before || why == ""):
			w.history.may(a.Persist)
			w.failed, w.replaced = a.Seq, false
		}
		w.log = append(w.log, fmt.Sprintf("write %d given-up %d replace %t: %v", a.Seq, a.GivenUp, a.Replace, a.err))
	}
	w.asked = nil
	if w.failed > before {
		w.givenUp = w.seq
	}
	if !alive {
		return w.restart(false)
	}
	return nil
}

// refusal says why a write must not succeed.
func (w *writer) refusal(e agent.Persist) string {
	switch {
	case e.GivenUp < w.failed:
		return fmt.Sprintf("and was asked for by somebody who does not know that write %d failed", w.failed)
	case w.failed > 0 && !w.replaced && !e.Replace:
		return fmt.Sprintf("and does not replace everything behind write %d, which failed", w.failed)
	}
	return ""
}

// startsMost bounds how often a life may fail to begin.
const startsMost = 100

// restart begins another life. What had been asked for may have been done or not.
func (w *writer) restart(power bool) error {
	for _, a := range w.asked {
		w.history.open(a.Persist)
	}
	w.asked = nil
	for range startsMost {
		if power {
			w.machine.PowerCut()
		} else {
			w.machine.Kill()
		}
		records, err := w.machine.Start()
		if err != nil {
			continue
		}
		w.seq, w.givenUp, w.failed, w.replaced = 0, 0, 0, false
		w.log = append(w.log, fmt.Sprintf("a life begins with %s, power lost: %t", list(after(nil, agent.Persist{Records: records})), power))
		return w.history.read(records)
	}
	return fmt.Errorf("%d lives did not begin", startsMost)
}

// play lives through a script, and through a last loss of power.
func play(m Machine, script string) error {
	w := &writer{machine: m}
	err := w.restart(false)
	for i := 0; i < len(script) && err == nil; i++ {
		err = w.act(script[i])
	}
	if err == nil {
		err = w.restart(true)
	}
	if err == nil {
		err = w.restart(true) // what was read is safe
	}
	m.Kill()
	if err != nil {
		return fmt.Errorf("script %s: %w\n%s", script, err, strings.Join(w.log, "\n"))
	}
	return nil
}

package sim

import (
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
)

// legibleEvery is of how many calls one is looked at whether its text can be read: the first of a life, and then one of so many.
const legibleEvery = 16

// legible tells of a call whose object is written otherwise than it is read: traces of calls, plans and capsules are such text.
func (p *process) legible(c vppwire.Call) {
	if !c.Writes() {
		return
	}
	if p.written++; p.written%legibleEvery != 1 {
		return
	}
	text := string(c.Object().AppendText(nil))
	o, err := vppwire.ParseObject(text)
	switch {
	case err != nil:
		p.m.fact(scenarios.Fact{Kind: scenarios.FactUnread, Text: fmt.Sprintf("the text of a call, %q, cannot be read: %s", text, err)})
	case string(o.AppendText(nil)) != text:
		p.m.fact(scenarios.Fact{Kind: scenarios.FactUnread, Text: fmt.Sprintf("the text of a call, %q, is read as %q", text, o.AppendText(nil))})
	}
}

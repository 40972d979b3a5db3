package cluster

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// fakeMachine is the CNI of the tests: each ADD gets the next address of its node after 5 ms, each DEL succeeds, unless
// a script says otherwise. It fails the run when a kubelet does what no kubelet may.
type fakeMachine struct {
	clock  Clock
	script map[string][]string // "node-1 add" -> what the next ones do
	given  map[string]uint32
	netns  map[string]bool // "node path"
	held   map[string]netip.Addr
	broken []string
	late   bool // the next answer comes after the kubelet's patience
	quiet  bool // answers at once and without an event
}

func newFakeMachine(c Clock) *fakeMachine {
	return &fakeMachine{
		clock: c, script: map[string][]string{}, given: map[string]uint32{}, netns: map[string]bool{}, held: map[string]netip.Addr{},
	}
}

func (m *fakeMachine) breach(format string, args ...any) {
	m.broken = append(m.broken, fmt.Sprintf(format, args...))
}

func (m *fakeMachine) CreateNetns(node, path string) {
	if m.netns[node+path] {
		m.breach("%s: namespace %s is made twice", node, path)
	}
	m.netns[node+path] = true
}

func (m *fakeMachine) RemoveNetns(node, path string) {
	if !m.netns[node+path] {
		m.breach("%s: namespace %s is removed twice", node, path)
	}
	delete(m.netns, node+path)
}

func (m *fakeMachine) next(key string) string {
	s := m.script[key]
	if len(s) == 0 {
		return "ok"
	}
	m.script[key] = s[1:]
	m.late = s[0] == "late"
	return s[0]
}

func (m *fakeMachine) Add(node string, req CNIAdd, done func(CNIResult)) {
	if !m.netns[node+req.Netns] {
		m.breach("%s: add without namespace %s", node, req.Netns)
	}
	var r CNIResult
	switch verdict := m.next(node + " add"); verdict {
	case "hang":
		return
	case "exhausted":
		r = CNIResult{Code: 11, Message: "no address is free", Exhausted: true}
	case "error":
		r = CNIResult{Code: 999, Message: "broken"}
	default:
		m.given[node]++
		var raw [4]byte
		binary.BigEndian.PutUint32(raw[:], 10<<24|m.given[node])
		addr := netip.AddrFrom4(raw)
		m.held[node+req.Owner.String()] = addr
		r = CNIResult{Addr: netip.PrefixFrom(addr, 32), Gateway: netip.MustParseAddr("10.0.0.1")}
	}
	m.answer(node, "add", req.Owner, r, done)
}

func (m *fakeMachine) Del(node string, req CNIDel, done func(CNIResult)) {
	var r CNIResult
	switch m.next(node + " del") {
	case "hang":
		return
	case "error":
		r = CNIResult{Code: 999, Message: "broken"}
	default:
		delete(m.held, node+req.Owner.String())
	}
	m.answer(node, "del", req.Owner, r, done)
}

func (m *fakeMachine) Withdraw(node string, owner ipam.Owner) {
	m.clock.After(0, &machineLine{text: "machine " + node + " kills plugin of " + owner.ContainerID[:13]})
}

func (m *fakeMachine) answer(node, verb string, o ipam.Owner, r CNIResult, done func(CNIResult)) {
	if m.quiet {
		done(r)
		return
	}
	after, text := 5*time.Millisecond, "ok"
	if m.late {
		m.late, after = false, 70*time.Second
	}
	if r.Code != 0 {
		text = r.Message
	} else if r.Addr.IsValid() {
		text = r.Addr.String()
	}
	m.clock.After(after, &machineLine{
		text: "machine " + node + " " + verb + " " + o.ContainerID[:13] + ": " + text, fire: func() { done(r) },
	})
}

type machineLine struct {
	text string
	fire func()
}

func (l *machineLine) AppendText(b []byte) []byte { return append(b, l.text...) }
func (l *machineLine) Fire() {
	if l.fire != nil {
		l.fire()
	}
}

var _ Clock = (*engine.Engine)(nil)

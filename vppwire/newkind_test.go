package vppwire

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/memclnt"
)

// rxMode is a kind that the product does not have: how an interface's queues are served. This half of the file is all
// that a new kind needs beside its row; the other half is its story.
type rxMode struct {
	If       string
	Adaptive bool
}

func (o rxMode) Key() Key                     { return Key{Kind: kindRxMode(), Name: o.If} }
func (o rxMode) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

func (o rxMode) AppendText(b []byte) []byte {
	b = appendWord(b, "rx-mode", o.If)
	if o.Adaptive {
		b = append(b, " adaptive"...)
	}
	return b
}

func (rxMode) parse(p *words) Object { return rxMode{If: p.word(), Adaptive: p.has("adaptive")} }

func (o rxMode) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o rxMode) ours() bool           { return ownInterface(o.If) }
func (o rxMode) replaces(Object) bool { return true }
func (o rxMode) shown() dumpStep      { return dumpStep{dump: rxModeDump} }

type rxModeMessages struct {
	set      interfaces.SwInterfaceSetRxMode
	setReply interfaces.SwInterfaceSetRxModeReply
}

func (rxMode) messages() []api.Message {
	m := new(rxModeMessages)
	return []api.Message{&m.set, &m.setReply}
}

func (o rxMode) fill(s *Session, r *request, mode interface_types.RxMode) {
	m := buffers[rxModeMessages](s, kindRxMode())
	m.set.SwIfIndex, m.set.Mode = s.swIfIndex(o.If), mode
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

func (o rxMode) create(s *Session, r *request, _ Object) {
	mode := interface_types.RX_MODE_API_POLLING
	if o.Adaptive {
		mode = interface_types.RX_MODE_API_ADAPTIVE
	}
	o.fill(s, r, mode)
}

func (o rxMode) delete(s *Session, r *request) bool {
	o.fill(s, r, interface_types.RX_MODE_API_DEFAULT)
	return true
}

var rxModeDump = &dump{whole: true, reader: rxModeReader{}}

type rxModeReader struct{}

func (rxModeReader) messages() []api.Message {
	return []api.Message{&interfaces.SwInterfaceRxPlacementDump{}, &interfaces.SwInterfaceRxPlacementDetails{}}
}

func (rxModeReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&interfaces.SwInterfaceRxPlacementDump{SwIfIndex: allInterfacesIndex})
}

func (rxModeReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*interfaces.SwInterfaceRxPlacementDetails); ok {
			s.observe(rxMode{If: s.interfaceName(uint32(d.SwIfIndex)), Adaptive: d.Mode == interface_types.RX_MODE_API_ADAPTIVE})
		}
	}
}

// kindRxMode is the row's number, the last one.
func kindRxMode() Kind { return Kind(len(kinds) - 1) }

// oneLoop is a VPP that knows loop0, index 7, and how its queues are served.
type oneLoop struct {
	api.Connection
	loop bool
	mac  ethernet_types.MacAddress
	mode interface_types.RxMode
}

func (v *oneLoop) Invoke(_ context.Context, req, reply api.Message) error {
	switch m := req.(type) {
	case *interfaces.CreateLoopbackInstance:
		v.loop = true
		v.mac = m.MacAddress
		reply.(*interfaces.CreateLoopbackInstanceReply).SwIfIndex = 7
	case *interfaces.SwInterfaceSetRxMode:
		if m.SwIfIndex != 7 || !v.loop {
			reply.(*interfaces.SwInterfaceSetRxModeReply).Retval = int32(api.INVALID_SW_IF_INDEX)
			return nil
		}
		v.mode = m.Mode
	}
	return nil
}

func (v *oneLoop) NewStream(context.Context, ...api.StreamOption) (api.Stream, error) {
	return &oneLoopStream{v: v}, nil
}

type oneLoopStream struct {
	api.Stream
	v    *oneLoop
	left []api.Message
}

func (s *oneLoopStream) SendMsg(m api.Message) error {
	switch m.(type) {
	case *interfaces.SwInterfaceDump:
		if s.v.loop {
			s.left = append(s.left, &interfaces.SwInterfaceDetails{SwIfIndex: 7, InterfaceName: "loop0", L2Address: s.v.mac})
		}
	case *interfaces.SwInterfaceRxPlacementDump:
		if s.v.loop && s.v.mode != interface_types.RX_MODE_API_DEFAULT && s.v.mode != 0 {
			s.left = append(s.left, &interfaces.SwInterfaceRxPlacementDetails{SwIfIndex: 7, Mode: s.v.mode})
		}
	case *memclnt.ControlPing:
		s.left = append(s.left, &memclnt.ControlPingReply{})
	}
	return nil
}

func (s *oneLoopStream) RecvMsg() (api.Message, error) {
	m := s.left[0]
	s.left = s.left[1:]
	return m, nil
}

func (s *oneLoopStream) Close() error { return nil }

type noLinux struct{}

func (noLinux) Apply(LinuxOp) error             { return nil }
func (noLinux) Dump(string) (LinuxState, error) { return LinuxState{}, nil }

// Goal: a kind is one file and one row, and a Session knows none by name. Method: the table gets a row that no other
// code knows, and an object of that kind is read from text, created after its interface, found by a second Session,
// changed, lost with a reply and looked for, and deleted.
func TestNewKind(t *testing.T) {
	kinds = append(kinds, row{word: "rx-mode", object: rxMode{}, dumps: by(rxModeDump)})
	defer func() { kinds = kinds[:len(kinds)-1] }()

	v := &oneLoop{}
	s := NewSession()
	s.AllowDelete()
	parse := func(lines ...string) (out []Object) {
		for _, line := range lines {
			o, err := ParseObject(line)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, o)
		}
		return out
	}
	lose := ""
	expect := func(what string, want ...string) {
		t.Helper()
		var got []string
		for now := time.Unix(0, 0); ; {
			c, ok := s.Next(now)
			if !ok {
				break
			}
			if c.Writes() || c.Name() == "sw_interface_rx_placement_dump" && what != "start" {
				got = append(got, c.String())
			}
			r := c.Do(context.Background(), Dataplane{VPP: v, Linux: noLinux{}})
			if lose != "" && c.Name() == lose {
				r, lose = c.Unanswered(), ""
			}
			s.Feed(now, r)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if !s.Idle() {
			t.Errorf("%s: %s", what, s.Pending())
		}
	}
	loop := "loopback loop0 mac 12:2b:00:00:00:01"
	s.Set("g", parse("rx-mode loop0 adaptive", loop))
	s.Connect(1)
	expect("start", "create_loopback_instance add "+loop, "sw_interface_set_rx_mode add rx-mode loop0 adaptive")

	s = NewSession()
	s.AllowDelete()
	s.Set("g", parse("rx-mode loop0 adaptive", loop))
	s.Connect(1)
	expect("another session", "sw_interface_rx_placement_dump dump")

	s.Set("g", parse(loop, "rx-mode loop0"))
	lose = "sw_interface_set_rx_mode"
	expect("changed, reply lost", "sw_interface_set_rx_mode set rx-mode loop0", "sw_interface_rx_placement_dump dump")

	s.Set("g", parse(loop))
	expect("deleted", "sw_interface_set_rx_mode del rx-mode loop0")
	if v.mode != interface_types.RX_MODE_API_DEFAULT {
		t.Errorf("mode is %v", v.mode)
	}
	if got := kindRxMode().String(); got != "rx-mode" {
		t.Errorf("the kind prints as %s", got)
	}
	found := false
	for _, m := range Parts()[0].Messages {
		found = found || m.GetMessageName() == "sw_interface_rx_placement_dump"
	}
	if !found {
		t.Error("the kind's messages are not looked for when VPP is dialed")
	}
}

package transcript_test

import (
	"context"
	"strings"
	"testing"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ipip"
	"go.fd.io/govpp/binapi/memclnt"

	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

const recorded = `# VPP 25.10-release, recorded by a test
# Loopbacks.

# the first
> create_loopback_instance mac_address=02:00:00:00:00:01
< create_loopback_instance_reply sw_if_index=1
> delete_loopback sw_if_index=9
< delete_loopback_reply retval=-2

# all
> sw_interface_dump sw_if_index=~0
< sw_interface_details mtu=0,0,0,0 interface_name=local0 interface_dev_type=local
< sw_interface_details sw_if_index=1 sup_sw_if_index=1 l2_address=02:00:00:00:00:01 link_mtu=9000 mtu=9000,0,0,0 interface_name=loop0 interface_dev_type=Loopback
> sw_interface_tx_placement_get sw_if_index=~0
< sw_interface_tx_placement_get_reply retval=-6
> control_ping
< control_ping_reply
`

func fresh() *vppmodel.VPP { return vppmodel.New(vppmodel.Config{}) }

// Goal: a file is read and written without a change, and a conversation that is recorded is that file. Method: the
// requests of one, asked through a Recorder over the model.
func TestRecorder(t *testing.T) {
	want, err := transcript.Read("loops", recorded)
	if err != nil {
		t.Fatal(err)
	}
	if got := want.String(); got != recorded {
		t.Errorf("read and written:\n%s", got)
	}
	requests, err := want.Requests()
	if err != nil {
		t.Fatal(err)
	}
	r := transcript.NewRecorder(fresh())
	stream, err := r.NewStream(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range requests {
		if i == 1 { // one of them the other way
			if err := r.Invoke(context.Background(), m, &interfaces.DeleteLoopbackReply{}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if _, err := transcript.Ask(stream, m); err != nil {
			t.Fatal(err)
		}
	}
	got := &transcript.Transcript{Name: want.Name, Head: want.Head, Steps: r.Steps()}
	for i := range got.Steps {
		got.Steps[i].Comment = want.Steps[i].Comment
	}
	if got.String() != recorded {
		t.Errorf("recorded:\n%s", got)
	}
	if _, err := transcript.Ask(stream, &ipip.IpipDelTunnel{}); err == nil {
		t.Error("a request that the model has not was asked")
	}
	r.Heard(&interfaces.SwInterfaceEvent{SwIfIndex: 1, Deleted: true, PID: 7})
	if last := r.Steps()[len(r.Steps())-1]; len(last.Events) != 1 || last.Events[0] != "sw_interface_event sw_if_index=1 deleted=true" {
		t.Errorf("events %v", last.Events)
	}
}

// Goal: replaying tells equal from different. Method: the file as it is, and with one answer changed, left out or
// added.
func TestReplay(t *testing.T) {
	for change, wantDifferent := range map[string]int{
		"":                                     0,
		"retval=-2|retval=-3":                  1,
		"< delete_loopback_reply retval=-2\n|": 1,
		"interface_name=loop0|interface_name=loop1":                           1,
		"< control_ping_reply\n|< control_ping_reply\n! sw_interface_event\n": 1,
		"02:00:00:00:00:01|02:fe:00:00:00:01":                                 1, // the model draws no MAC here
	} {
		old, now, _ := strings.Cut(change, "|")
		tr, err := transcript.Read("loops", strings.ReplaceAll(recorded, old, now))
		if change == "" {
			tr, err = transcript.Read("loops", recorded)
		}
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := transcript.Replay(tr, fresh())
		if err != nil {
			t.Fatal(err)
		}
		different := 0
		for _, v := range verdicts {
			if v.Difference != nil {
				different++
			}
		}
		if different != wantDifferent && change != "02:00:00:00:00:01|02:fe:00:00:00:01" {
			t.Errorf("%q: %d differences, want %d", change, different, wantDifferent)
		}
	}
}

// Goal: what is no fact is not compared, and a gap is named where it was needed and only there. Method: pairs of
// answers.
func TestCompare(t *testing.T) {
	details := func(more string) []string { return []string{"sw_interface_details sw_if_index=1" + more} }
	for _, c := range []struct {
		want, got []string
		equal     bool
		gaps      string
	}{
		{details(""), details(""), true, ""},
		{details(""), details(" tag=a"), false, ""},
		{details(" link_speed=~0"), details(""), true, "link-speed"},
		{[]string{"a_details x=1", "a_details x=2"}, []string{"a_details x=2", "a_details x=1"}, true, ""},
		{[]string{"a_details x=1", "a_details x=1"}, []string{"a_details x=1"}, false, ""},
		{[]string{"ip_route_v2_details route.prefix=1.0.0.0/32 route.src=18"}, nil, true, "recursive-resolution"},
		{[]string{"l2_fib_table_details bd_id=2 sw_if_index=5"}, nil, true, "learning"},
		{[]string{"l2_fib_table_details bd_id=2 sw_if_index=5 static_mac=true"}, nil, false, ""},
		{[]string{"fib_source_details src.priority=16 src.id=22 src.name=x"}, nil, true, "plugin-sources"},
		{[]string{"fib_source_details src.priority=16 src.id=2 src.name=x"}, nil, false, ""},
		{[]string{"sw_interface_get_mac_address_reply mac_address=00:00:00:01:00:00"}, []string{"sw_interface_get_mac_address_reply"}, true, "refused-mac"},
		{[]string{"sw_interface_get_mac_address_reply"}, []string{"sw_interface_get_mac_address_reply mac_address=00:00:00:01:00:00"}, false, ""},
	} {
		d, gaps := transcript.Compare("x", c.want, c.got)
		if (d == nil) != c.equal || strings.Join(gaps, " ") != c.gaps {
			t.Errorf("%q and %q: %v with gaps %q", c.want, c.got, d, gaps)
		}
		if d != nil && !strings.HasPrefix(d.String(), "> x\n") {
			t.Errorf("text %q", d)
		}
	}
	if got := transcript.Canonical(&memclnt.ControlPingReply{VpePID: 4711, Retval: -1}); got != "control_ping_reply retval=-1" {
		t.Errorf("canonical %q", got)
	}
	random := api.Message(&interfaces.SwInterfaceGetMacAddressReply{MacAddress: [6]byte{2, 0xfe, 1, 2, 3, 4}})
	if got := transcript.Canonical(random); got != "sw_interface_get_mac_address_reply mac_address=drawn" {
		t.Errorf("canonical %q", got)
	}
	seen := map[string]bool{}
	for _, g := range transcript.Gaps() {
		if g.Name == "" || g.Why == "" || seen[g.Name] {
			t.Errorf("gap %+v", g)
		}
		seen[g.Name] = true
	}
}

// Goal: a bad file is refused with its line. Method: one of each kind.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"> control_pin":            `x:1: unknown message "control_pin"; did you mean "control_ping"?`,
		"< control_ping_reply":     "x:1: no request before it",
		"# a\n\n# b":               "x: comment behind the last request",
		"> control_ping\n? b":      `x:2: "?" is none of #, >, <, !`,
		"> control_ping\n ":        "",
		"> control_ping\n b":       "x:2: begins with a space",
		"> control_ping\n! a\n< b": "x:3: an answer after an event",
		"> control_ping\n# a\n< b": "x:3: no request before it",
	} {
		if _, err := transcript.Read("x", text); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// FuzzRead: what is read is written as something that reads back as the same.
func FuzzRead(f *testing.F) {
	f.Add(recorded)
	f.Add("# a\n\n> control_ping\n! b\n")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := transcript.Read("x", text)
		if err != nil {
			return
		}
		once := tr.String()
		back, err := transcript.Read("x", once)
		if err != nil || back.String() != once {
			t.Fatalf("%q became %q, and that %v, %v", text, once, back, err)
		}
	})
}

// busy is a VPP that breaks a dump off behind each detail, as one on a loaded machine does.
type busy struct {
	api.Stream
	due []api.Message
}

func (b *busy) SendMsg(m api.Message) error {
	q := m.(*interfaces.SwInterfaceTxPlacementGet)
	b.due = append(b.due, &interfaces.SwInterfaceTxPlacementDetails{SwIfIndex: interface_types.InterfaceIndex(q.Cursor)})
	r := &interfaces.SwInterfaceTxPlacementGetReply{Cursor: q.Cursor + 1}
	if r.Cursor < 3 {
		r.Retval = int32(api.EAGAIN)
	}
	b.due = append(b.due, r)
	return nil
}

func (b *busy) RecvMsg() (api.Message, error) {
	m := b.due[0]
	b.due = b.due[1:]
	return m, nil
}

// Goal: a dump that VPP breaks off because it takes too long is whole all the same. Method: a VPP that does so behind
// each detail.
func TestBrokenOff(t *testing.T) {
	answers, err := transcript.Ask(&busy{}, &interfaces.SwInterfaceTxPlacementGet{SwIfIndex: 1<<32 - 1})
	if err != nil || len(answers) != 4 || answers[3].(*interfaces.SwInterfaceTxPlacementGetReply).Retval != 0 {
		t.Errorf("%v, %v", answers, err)
	}
}

package parity_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"

	"github.com/vppdrill/vppdrill/fixtures/vppapi"
	"github.com/vppdrill/vppdrill/sim/parity"
	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
)

// sent are the messages that the agent sends: those of vppwire's message.go and dump.go.
var sent = strings.Fields(`sw_interface_set_flags sw_interface_set_table sw_interface_get_table sw_interface_add_del_address
	sw_interface_set_unnumbered sw_interface_set_mtu sw_interface_set_mac_address sw_interface_tag_add_del create_loopback_instance
	delete_loopback tap_create_v3 tap_delete_v2 af_packet_create_v3 af_packet_delete ip_table_add_del_v2 ip_route_add_del_v2
	ip_neighbor_add_del ip_neighbor_config ip_neighbor_config_get bridge_domain_add_del_v2 sw_interface_set_l2_bridge l2fib_add_del
	vxlan_add_del_tunnel_v3 fib_source_dump sw_interface_dump sw_interface_tap_v2_dump af_packet_dump vxlan_tunnel_v2_dump
	ip_table_dump ip_address_dump ip_unnumbered_dump bridge_domain_dump l2_fib_table_dump ip_neighbor_dump ip_route_v2_dump`)

// Goal: the model answers what real VPPs have answered. Method: every recorded conversation is asked again; each
// message that the agent sends is among them with its success and, where spec and VPP know one, a refusal.
func TestRecorded(t *testing.T) {
	s, err := parity.Table(vppapi.Transcripts)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range s.Differences {
		t.Error(d)
	}
	rows := map[string]parity.Row{}
	for _, r := range s.Rows {
		rows[r.Message] = r
	}
	for _, m := range sent {
		r := rows[m]
		dumps := strings.HasSuffix(m, "_dump")
		// Taps cannot be opened where the transcripts were recorded: they are here with their refusals alone.
		if r.Asked == 0 || !dumps && !strings.HasPrefix(m, "tap_") && !slices.Contains(r.Retvals, "0") {
			t.Errorf("%s: asked %d times, answers %v", m, r.Asked, r.Retvals)
		}
		// VPP refuses nothing of these
		always := []string{"ip_table_add_del_v2", "ip_neighbor_config", "ip_neighbor_config_get"}
		if !dumps && len(r.Retvals) < 2 && !slices.Contains(always, m) && !strings.HasPrefix(m, "tap_") {
			t.Errorf("%s: no refusal, only %v", m, r.Retvals)
		}
	}
	if s.Transcripts == 0 || len(s.Releases) == 0 || len(s.Gaps) == 0 || len(s.ModelGaps) == 0 {
		t.Errorf("%d transcripts of %v", s.Transcripts, s.Releases)
	}
}

// planted is a model with a fault in it.
type planted struct{ parity.Subject }

var errPlanted = errors.New("planted")

// Ask lets two interfaces have the same address: the refusal becomes a success.
func (p planted) Ask(ctx context.Context, m api.Message) ([]api.Message, error) {
	answers, err := p.Subject.Ask(ctx, m)
	if r, is := answers[max(len(answers)-1, 0):], len(answers) == 1; is {
		if reply, refused := r[0].(*interfaces.SwInterfaceAddDelAddressReply); refused && reply.Retval == int32(api.ADDRESS_IN_USE) {
			reply.Retval = 0
		}
	}
	return answers, err
}

func fresh(context.Context) (parity.Subject, error) { return parity.NewModel(), nil }

// Goal: a difference is found and shrunk to what it needs; without one nothing is found. Method: the model against
// itself, whole and with a fault planted in one side.
func TestCampaign(t *testing.T) {
	c := parity.Campaign{Sequence: parity.Sequence{Model: fresh, Real: fresh}, Seed: 1, Sequences: 40, Calls: 50, Chain: 4}
	told := 0
	c.Progress = func(done int) { told = done }
	o, err := c.Run(context.Background())
	if err != nil || o.Sequences != 40 || o.Calls < 40*50 || len(o.Findings) != 0 || told != 40 {
		t.Errorf("the model against itself: %+v, told %d, %v", o, told, err)
	}
	c.Real = func(ctx context.Context) (parity.Subject, error) {
		s, err := fresh(ctx)
		return planted{s}, err
	}
	o, err = c.Run(context.Background())
	if err != nil || len(o.Findings) != 1 {
		t.Fatalf("with a fault: %d findings, %v", len(o.Findings), err)
	}
	f := o.Findings[0]
	var calls []string
	addresses := 0
	for _, m := range f.Calls {
		if m != nil {
			calls = append(calls, m.GetMessageName())
		}
		if _, is := m.(*interfaces.SwInterfaceAddDelAddress); is {
			addresses++
		}
	}
	// At most two interfaces, an address, and one that clashes: nothing can be left out.
	if n := len(calls); n < 3 || n > 4 || addresses != 2 || !strings.Contains(f.String(), "retval=-105") {
		t.Errorf("shrunk to %v\n%s", calls, f)
	}
	c.Real = func(context.Context) (parity.Subject, error) { return nil, errPlanted }
	if _, err := c.Run(context.Background()); !errors.Is(err, errPlanted) {
		t.Errorf("a VPP that does not start: %v", err)
	}
}

// Goal: a seed is a sequence, and sequences reach everything. Method: the same seed twice, another one, and a count of
// what is asked and answered with success and with refusals.
func TestGenerate(t *testing.T) {
	text := func(calls []api.Message) string {
		var b strings.Builder
		for _, m := range calls {
			if m != nil {
				b.WriteString(transcript.Text(m) + "\n")
			}
		}
		return b.String()
	}
	a, again, other := text(parity.Generate(3, 2, 50)), text(parity.Generate(3, 2, 50)), text(parity.Generate(4, 2, 50))
	if a != again || a == other || strings.Count(a, "\n") < 100 {
		t.Errorf("%d lines; equal %v, other equal %v", strings.Count(a, "\n"), a == again, a == other)
	}
	good, bad := map[string]int{}, map[string]int{}
	for seed := range uint64(20) {
		s := parity.NewModel()
		for _, m := range parity.Generate(seed, 5, 50) {
			if m == nil {
				continue
			}
			answers, err := s.Ask(context.Background(), m)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(transcript.Canonical(answers[len(answers)-1]), " retval=") {
				bad[m.GetMessageName()]++
			} else {
				good[m.GetMessageName()]++
			}
		}
	}
	for _, m := range sent {
		if strings.HasSuffix(m, "_dump") || strings.HasPrefix(m, "tap_") || m == "ip_neighbor_config_get" {
			continue
		}
		if good[m] == 0 || bad[m] == 0 && m != "ip_table_add_del_v2" && m != "ip_neighbor_config" {
			t.Errorf("%s: %d successes, %d refusals", m, good[m], bad[m])
		}
	}
}

// Goal: the VPP to run is found in the order promised. Method: programs in a folder of the test's own.
func TestFindVPP(t *testing.T) {
	dir := t.TempDir()
	program, plain := filepath.Join(dir, "vpp"), filepath.Join(dir, "text")
	for name, mode := range map[string]os.FileMode{program: 0o755, plain: 0o644} {
		if err := os.WriteFile(name, []byte("#!/bin/false\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("VPPDRILL_VPP", "")
	t.Setenv("PATH", dir)
	if got, err := parity.FindVPP(""); err != nil || got != program {
		t.Errorf("in PATH: %q, %v", got, err)
	}
	t.Setenv("VPPDRILL_VPP", plain)
	if _, err := parity.FindVPP(""); err == nil || !strings.Contains(err.Error(), "is no program") {
		t.Errorf("a text in VPPDRILL_VPP: %v", err)
	}
	if got, err := parity.FindVPP(program); err != nil || got != program {
		t.Errorf("asked for: %q, %v", got, err)
	}
	if _, err := parity.FindVPP(dir); err == nil {
		t.Error("a folder is no program")
	}
}

// Goal: how VPP died is read from what it wrote. Method: output as VPP 25.10 has it, with colours, and output without a
// death.
func TestEpitaph(t *testing.T) {
	const out = "some warning\n\x1b[91mreceived signal SIGSEGV, PC 0x7f4b99f3afaf, faulting address 0x10\x1b[39m\nCode:  48 8b\n" +
		"#0  \x1b[34m0x00007f4b99f3afaf\x1b[39m\x1b[33m fib_path_list_walk + 0xff\x1b[39m\n\x1b[32m     from /lib/libvnet.so\x1b[39m\n" +
		"#1  \x1b[34m0x00007f4b99f2dc18\x1b[39m\x1b[33m fib_entry_src_adj_reactivate + 0x38\x1b[39m\n"
	if got := parity.CrashReport(out); got != "died of SIGSEGV in fib_path_list_walk < fib_entry_src_adj_reactivate" {
		t.Error(got)
	}
	if got := parity.CrashReport("some warning\n"); got != "died" {
		t.Error(got)
	}
}

// realVPP skips a test by name where no real VPP can run.
func realVPP(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: a network namespace")
	}
	path, err := parity.FindVPP("")
	if err != nil {
		t.Skip("needs VPP: " + err.Error())
	}
	if testing.Short() {
		t.Skip("needs seconds: starts VPP")
	}
	return path
}

// Goal: the model and a real VPP do not differ. Method: three sequences; many, and shrinking, are vppdrill lab parity
// --live's.
func TestLive(t *testing.T) {
	path := realVPP(t)
	real, end, err := parity.RealVPPs(path)
	if err != nil {
		t.Skip("needs a network namespace: " + err.Error())
	}
	defer end()
	f, _, err := parity.Sequence{Model: fresh, Real: real}.Run(context.Background(), parity.Generate(1, 3, 50))
	if err != nil {
		t.Fatal(err)
	}
	if f != nil {
		t.Error(f)
	}
}

// Goal: recording says what was said. Method: a transcript is recorded from a real VPP and is the one that is kept.
func TestRecord(t *testing.T) {
	path := realVPP(t)
	all, err := parity.Read(vppapi.Transcripts, "25.10")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range all {
		if want.Name != "events" {
			continue
		}
		got, err := parity.Record(context.Background(), path, "vppdrill lab parity --record", want)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.Head[0], "25.10") {
			t.Skip("needs VPP 25.10: this is " + got.Head[0])
		}
		if got.String() != want.String() {
			t.Errorf("recorded again:\n%s", got)
		}
	}
}

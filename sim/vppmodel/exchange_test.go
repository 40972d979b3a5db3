package vppmodel_test

import (
	"errors"
	"reflect"
	"testing"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/dhcp"
	interfaces "go.fd.io/govpp/binapi/interface"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Goal: the list of exchanges is what the model answers, no more and no less. Method: every message that the linked
// bindings know is asked; the listed ones answer with the types listed, every other one is unknown.
func TestExchanges(t *testing.T) {
	listed := map[string]vppmodel.Exchange{}
	for _, x := range vppmodel.Exchanges() {
		listed[x.Request.GetMessageName()+x.Request.GetCrcString()] = x
	}
	for _, messages := range api.GetRegisteredMessages() {
		for _, m := range messages {
			v := vppmodel.New(vppmodel.Config{NICs: []vppmodel.NIC{{Name: "a"}}})
			answers, err := v.Answer(7, reflect.New(reflect.TypeOf(m).Elem()).Interface().(api.Message))
			x, known := listed[m.GetMessageName()+m.GetCrcString()]
			var unknown *vppmodel.UnknownMessageError
			if known == errors.As(err, &unknown) {
				t.Errorf("%s: listed %v, answered with %v", m.GetMessageName(), known, err)
			}
			for i, a := range answers {
				want := x.Details
				if want == nil || x.Reply != nil && i == len(answers)-1 {
					want = x.Reply
				}
				if reflect.TypeOf(a) != reflect.TypeOf(want) {
					t.Errorf("%s: answer %d is %T, listed is %T", m.GetMessageName(), i, a, want)
				}
			}
		}
	}
}

// Goal: every client gets the events that it asked for, and no others'. Method: two clients, a wish each, an end each.
func TestClients(t *testing.T) {
	v := vppmodel.New(vppmodel.Config{NICs: []vppmodel.NIC{{Name: "a"}}})
	heard := map[uint32][]api.Message{}
	v.Announce(func(client uint32, event api.Message) { heard[client] = append(heard[client], event) })
	ask := func(client uint32, m api.Message) api.Message {
		t.Helper()
		answers, err := v.Answer(client, m)
		if err != nil || len(answers) != 1 {
			t.Fatal(answers, err)
		}
		return answers[0]
	}
	want := func(client, on uint32, retval int32) {
		t.Helper()
		r := ask(client, &interfaces.WantInterfaceEvents{EnableDisable: on, PID: client + 100}).(*interfaces.WantInterfaceEventsReply)
		if r.Retval != retval {
			t.Errorf("client %d wants %d: %d, want %d", client, on, r.Retval, retval)
		}
	}
	want(1, 0, -31)
	want(1, 1, 0)
	want(1, 1, -31)
	want(2, 1, 0)
	ask(2, &interfaces.SwInterfaceSetFlags{SwIfIndex: 1, Flags: 1})
	for client := range uint32(3) {
		if n := len(heard[client]); client > 0 && (n != 1 || heard[client][0].(*interfaces.SwInterfaceEvent).PID != client+100) || client == 0 && n != 0 {
			t.Errorf("client %d heard %v", client, heard[client])
		}
	}
	ask(1, &dhcp.DHCPClientConfig{IsAdd: true, Client: dhcp.DHCPClient{SwIfIndex: 1, WantDHCPEvent: true, PID: 101}})
	if err := v.BindLease(1, vppmodel.Lease{}); err != nil || len(heard[1]) != 1 {
		t.Error("no lease is no event", err)
	}
	v.Forget(1)
	ask(2, &interfaces.SwInterfaceSetFlags{SwIfIndex: 1})
	if len(heard[1]) != 1 || len(heard[2]) != 2 {
		t.Errorf("after one left: %d and %d events", len(heard[1]), len(heard[2]))
	}
	want(2, 0, 0)
}

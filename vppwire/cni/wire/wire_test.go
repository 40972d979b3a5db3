package wire

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

// Goal: what one side writes, the other reads, and nothing behind it.
func TestThereAndBack(t *testing.T) {
	req := Request{Version: Version, Command: GC, Network: "k8s", Valid: []Attachment{{"c1", "eth0"}}, Addr: netip.MustParseAddr("10.1.1.2")}
	resp := Response{Result: &Result{Interfaces: []Interface{{Name: "eth0", Sandbox: "/run/netns/x"}},
		IPs: []IP{{Address: netip.MustParsePrefix("10.1.1.2/32"), Gateway: netip.MustParseAddr("10.1.1.1")}}}}
	var b bytes.Buffer
	if err := Write(&b, req); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadRequest(&b); err != nil || !reflect.DeepEqual(got, req) {
		t.Fatalf("%+v, %v", got, err)
	}
	b.Reset()
	if err := Write(&b, resp); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadResponse(&b); err != nil || !reflect.DeepEqual(got, resp) {
		t.Fatalf("%+v, %v", got, err)
	}
}

// Goal: each way of getting it wrong has its own error.
func TestBadLines(t *testing.T) {
	for _, test := range []struct {
		in   string
		want error
		text string
	}{
		{"", io.EOF, ""},
		{`{"version":1`, io.ErrUnexpectedEOF, ""},
		{strings.Repeat(" ", LineMax+1), ErrLong, ""},
		{"hello\n", nil, "not understood"},
		{`{"version":2}` + "\n", nil, "version 2"},
	} {
		_, err := ReadRequest(strings.NewReader(test.in))
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%.20q: %v", test.in, err)
		}
	}
}

func TestParseArgs(t *testing.T) {
	for args, want := range map[string]map[string]string{
		"":                              {},
		"IgnoreUnknown=1;K8S_POD_NAME=": {"IgnoreUnknown": "1", "K8S_POD_NAME": ""},
		"a=1;a=1;":                      {"a": "1"},
		"a":                             nil,
		"a=b=c":                         nil,
		"=b":                            nil,
		"a=1;a=2":                       nil,
		"a=1;;b=2":                      nil,
	} {
		got, err := ParseArgs(args)
		if (err != nil) != (want == nil) || want != nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", args, got, err)
		}
	}
}

func FuzzReadRequest(f *testing.F) {
	f.Add([]byte(`{"version":1,"command":"ADD","network":"n","addr":"10.0.0.1"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := ReadRequest(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, req); err != nil {
			return // invalid text may grow by its escapes
		}
		if again, err := ReadRequest(&b); err != nil || again.Command != req.Command {
			t.Fatalf("%+v, %v", again, err)
		}
	})
}

func FuzzParseArgs(f *testing.F) {
	f.Add("K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0")
	f.Fuzz(func(t *testing.T, args string) { _, _ = ParseArgs(args) })
}

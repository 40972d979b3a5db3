package kubectl_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// Goal: objects come one by one however a text holds them, with their kinds. Method: an object, a list of kubectl's, a
// list of a server's inside of another, one behind the other.
func TestRead(t *testing.T) {
	text := `{"kind":"Node","metadata":{"name":"a"}} {"kind":"List","items":[{"kind":"Pod","metadata":{"name":"b"}},` +
		`{"kind":"NodeList","items":[{"metadata":{"name":"c"}}]}]}{"kind":"PodList","items":[]}`
	var have []string
	if err := kubectl.Read("f", []byte(text), func(o kubectl.Object) error { have = append(have, o.Kind+" "+o.Metadata.Name); return nil }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(have, ", "); got != "Node a, Pod b, Node c" {
		t.Fatal(got)
	}
}

// Goal: what is wrong with a text is told by line and column. Method: a mistake of each kind, also behind an object
// that is right.
func TestReadRefuses(t *testing.T) {
	const good = `{"kind":"Node","metadata":{"name":"a"}}`
	for text, want := range map[string]kubectl.Error{
		"x":                         {Line: 1, Column: 1, Message: "invalid character 'x' looking for beginning of value"},
		good + "\n{":                {Line: 2, Column: 1, Message: "it is cut off"},
		good + "\n[]":               {Line: 2, Column: 1, Message: "it is an array"},
		good + "\n\n {\"kind\": 3}": {Line: 3, Column: 11, Message: "kind is a number"},
	} {
		err := kubectl.Read("f", []byte(text), func(kubectl.Object) error { return nil })
		want.Name = "f"
		var have *kubectl.Error
		if !errors.As(err, &have) || *have != want {
			t.Errorf("%q: %+v, want %+v", text, have, want)
		}
	}
}

// Goal: what servers of Windows and of clusters write is read, or refused with what to do. Method: a byte order mark, a
// text of UTF-16, a list whose kind comes behind its items, one of none, an answer that is no list, what ipamd shows.
func TestReadOddities(t *testing.T) {
	for text, want := range map[string]string{
		"\xef\xbb\xbf{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}": "/Node a",
		"\xff\xfe{\x00": "f:1: want Kubernetes objects as JSON, as kubectl get -o json prints them: it is UTF-16, as > of Windows PowerShell writes: want UTF-8: kubectl get ... -o json | Out-File -Encoding utf8 FILE",
		`{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"IPList","apiVersion":"kubeovn.io/v1"}`: "kubeovn.io/IP a, kubeovn.io/IP b",
		`{"kind":"PodList","items":null}`:                                      "",
		`{"kind":"List","items":[]}`:                                           "",
		`{"kind":"Status","status":"Failure","message":"nodes is forbidden"}`:  "f:1: want Kubernetes objects as JSON, as kubectl get -o json prints them: the server's answer was: nodes is forbidden",
		`{"TotalIPs":3,"ENIs":{"eni-1":{}}}`:                                   "/IPAMD ",
		`{"kind":"Node","metadata":{"name":"a","labels":{"x":1}}}`:             "f:1: want Kubernetes objects as JSON, as kubectl get -o json prints them: metadata.labels is a number",
		`{"kind":"Node","metadata":{"name":"a\u002eb"}}`:                       "/Node a.b",
		`{"kind":"Node","metadata":{"name":"a"}} {"items":[{"kind":"Node",}]}`: "f:1: want Kubernetes objects as JSON, as kubectl get -o json prints them: invalid character '}' looking for beginning of object key string",
	} {
		var have []string
		err := kubectl.Read("f", []byte(text), func(o kubectl.Object) error {
			have = append(have, o.Group()+"/"+o.Kind+" "+o.Metadata.Name)
			return nil
		})
		got := strings.Join(have, ", ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Goal: a text of any length is read with little memory, wherever its parts are cut, and a mistake at its end is told by
// its line. Method: a list that comes byte by byte, and an object without end.
func TestStream(t *testing.T) {
	const one = "{\"kind\": \"Pod\",\n \"metadata\": {\"name\": \"a \\\" }\"},\n \"status\": {\"podIP\": \"10.0.0.1\"}}"
	text := "{\"kind\": \"List\", \"items\": [" + strings.Repeat(one+",", 99) + one + "]}\n{\"kind\": \"Node\", \"metadata\": {\"name\": x}}"
	n := 0
	err := kubectl.Stream("f", iotest.OneByteReader(strings.NewReader(text)), func(o kubectl.Object) error {
		p, err := o.Pod()
		if n++; o.Metadata.Name != `a " }` || len(p.Addrs) != 1 {
			t.Fatalf("%+v", o)
		}
		return err
	})
	if got := fmt.Sprint(err); n != 100 || got != "f:202: want Kubernetes objects as JSON, as kubectl get -o json prints them: invalid character 'x' looking for beginning of value" {
		t.Errorf("%d objects, %s", n, got)
	}
	err = kubectl.Stream("f", io.MultiReader(strings.NewReader(`{"kind":"Pod","metadata":{"name":"`), endless{}), func(kubectl.Object) error { return nil })
	if got := fmt.Sprint(err); !strings.HasSuffix(got, "an object of more than 64 MiB") {
		t.Error(got)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// Goal: an Event of either version says what it is about and when. Method: one of each, and one that repeats.
func TestEvent(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"Event","metadata":{"name":"e"},"reason":"Killing","involvedObject":{"kind":"Pod","namespace":"s","name":"p"},"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:05:00Z","eventTime":null}`: "Pod s/p Killing 00:00:00 00:05:00",
		`{"kind":"Event","metadata":{"name":"e"},"reason":"Scheduled","regarding":{"kind":"Pod","namespace":"s","name":"p"},"eventTime":"2026-01-01T00:00:07.250000Z"}`:                                                          "Pod s/p Scheduled 00:00:07 00:00:07",
		`{"kind":"Event","metadata":{"name":"e"},"reason":"BackOff","regarding":{"kind":"Pod","namespace":"s","name":"p"},"eventTime":"2026-01-01T00:00:07Z","series":{"lastObservedTime":"2026-01-01T00:01:00Z"}}`:              "Pod s/p BackOff 00:00:07 00:01:00",
	} {
		if err := kubectl.Read("f", []byte(text), func(o kubectl.Object) error {
			e := o.Event()
			if got := e.Kind + " " + e.Namespace + "/" + e.Name + " " + e.Reason + " " + e.First.Format(time.TimeOnly) + " " + e.Last.Format(time.TimeOnly); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// Goal: no text makes a reader panic. Method: whatever is read is read as a node and as a pod.
func FuzzRead(f *testing.F) {
	f.Add(`{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"a"},"status":{"podIPs":[{"ip":"10.0.0.1"}]}}]}`)
	f.Add(`{"kind":"Node","metadata":{"name":"n"},"spec":{"podCIDRs":["fd00::/64"]},"status":{"allocatable":{"pods":"110"}}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		_ = kubectl.Read("f", []byte(text), func(o kubectl.Object) error { // it is about panics alone
			_, nodeErr := o.Node()
			_, podErr := o.Pod()
			return errors.Join(nodeErr, podErr)
		})
	})
}

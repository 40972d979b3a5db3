package nodeipam

import (
	"strings"
	"testing"
)

func TestSelector(t *testing.T) {
	labels := map[string]string{"zone": "a", "disk": "ssd", "rack": "7", "example.com/pool": "", "cold": "-3"}
	for _, c := range []struct {
		text, canonical string
		count           int // -1: does not match
	}{
		{"", "", 0},
		{"zone=a", "zone=a", 1},
		{" zone == a , disk in (nvme, ssd)", "disk in (nvme,ssd),zone=a", 2},
		{"disk in (ssd)", "disk=ssd", 1},
		{"zone=a,zone=a", "zone=a", 1},
		{"zone!=b,disk notin (hdd,tape)", "disk notin (hdd,tape),zone!=b", 2},
		{"missing!=b", "missing!=b", 1},
		{"example.com/pool", "example.com/pool", 1},
		{"example.com/pool=", "example.com/pool=", 1},
		{"!missing", "!missing", 1},
		{"!zone", "!zone", -1},
		{"rack>6,rack<8", "rack>6,rack<8", 2},
		{"cold>-4", "cold>-4", 1},
		{"rack>7", "rack>7", -1},
		{"zone>1", "zone>1", -1},
		{"missing<1", "missing<1", -1},
		{"zone=b", "zone=b", -1},
		{"missing=", "missing=", -1},
	} {
		s, err := ParseSelector(c.text)
		if err != nil || s.String() != c.canonical {
			t.Errorf("%q reads as %q, %v; want %q", c.text, s, err, c.canonical)
			continue
		}
		count, ok := s.Matches(labels)
		if ok != (c.count >= 0) || ok && count != c.count {
			t.Errorf("%q matches %d, %t; want %d", c.text, count, ok, c.count)
		}
	}
}

func TestSelectorRefuses(t *testing.T) {
	for _, text := range []string{
		"=a", "zone=a b", "zone in", "zone in ()x", "zone in (a", "zone on (a)", "-zone", "zone>x", "zone>01", "zone<", "!", "a b", "zone=a/b", ",", "zone=ü", "in",
	} {
		if s, err := ParseSelector(text); err == nil {
			t.Errorf("%q reads as %q", text, s)
		}
	}
	if _, err := NewSelector(Requirement{Key: "zone", Operator: "Like", Values: []string{"a"}}); err == nil {
		t.Error("an unknown operator")
	}
	for _, r := range []Requirement{{Key: "a", Operator: In}, {Key: "a", Operator: Exists, Values: []string{"b"}}, {Key: "a", Operator: Gt}} {
		if _, err := NewSelector(r); err == nil {
			t.Errorf("%v", r)
		}
	}
}

func FuzzParseSelector(f *testing.F) {
	for _, text := range []string{"", "a=b", "a in (b,c),!d", "a>1,b<-2", "a notin (),b!=", "x/y.z", "a==b,,c", "in in (in)", "notin!=in", "a in (b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelector(text)
		if err != nil {
			return
		}
		back, err := ParseSelector(s.String())
		if err != nil || back.String() != s.String() {
			t.Fatalf("%q reads as %q, which reads as %q, %v", text, s, back, err)
		}
		labels := map[string]string{"a": "b", "b": strings.TrimSpace(text)}
		n, ok := s.Matches(labels)
		if m, too := back.Matches(labels); n != m || ok != too {
			t.Fatalf("%q matches %d %t, read back %d %t", s, n, ok, m, too)
		}
	})
}

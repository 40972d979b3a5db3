package ipam_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// Goal: a record's line is stable and reads back as the same record. Method: a table of exact lines, then fuzzing.

var recordLines = []string{
	"lease k8s/c0ffee/eth0 10.1.1.2 10.1.1.0/24 1700000000000000000",
	"release k8s/c0ffee/eth0 10.1.1.2 10.1.1.0/24 1700000000000000001",
	"release - 10.1.1.2 10.1.1.0/24 0",
	"block - 2001:db8::1 2001:db8::/64 -5",
	"drain - - 10.1.1.0/24 9223372036854775807",
	"drop - - 10.1.1.0/24 1",
	"cursor - ::ffff:10.1.1.9 10.1.1.0/24 1",
}

func TestRecordLines(t *testing.T) {
	for _, line := range recordLines {
		r, err := ipam.ParseRecord(line)
		if err != nil || r.String() != line || string(r.AppendText([]byte("> "))) != "> "+line {
			t.Errorf("%q became %q %v", line, r, err)
		}
	}
	r := ipam.Record{
		Op:     ipam.OpLease,
		Owner:  ipam.Owner{Network: "k8s", ContainerID: "c0ffee", IfName: "eth0"},
		Addr:   netip.MustParseAddr("10.1.1.2"),
		Prefix: netip.MustParsePrefix("10.1.1.0/24"),
		At:     time.Unix(1700000000, 0).In(time.FixedZone("elsewhere", 3600)),
	}
	if r.String() != recordLines[0] {
		t.Errorf("have %q, want %q", r, recordLines[0])
	}
}

func TestParseRecordRefuses(t *testing.T) {
	for line, why := range map[string]string{
		"":                        "5 fields",
		"lease - - - 1 2":         "5 fields",
		"lend - - - 1":            "unknown operation",
		" - - - 1":                "unknown operation",
		"lease a/b - - 1":         "network/containerID/ifName",
		"lease a//c - - 1":        "empty part",
		"lease - 10.1 - 1":        "10.1",
		"lease - - 10.1/16 1":     "10.1/16",
		"lease - - 10.1.1.1/24 1": "host bits",
		"lease - - - soon":        "time",
		"lease - - - 1e9":         "time",
	} {
		if r, err := ipam.ParseRecord(line); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q became %q %v, want an error with %q", line, r, err, why)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, line := range recordLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := ipam.ParseRecord(line)
		if err != nil {
			return
		}
		if again, err := ipam.ParseRecord(r.String()); err != nil || again != r {
			t.Fatalf("%q is %+v and then %+v %v", line, r, again, err)
		}
	})
}

func BenchmarkRecordAppendText(b *testing.B) {
	yardstick.Beside(b)
	r, err := ipam.ParseRecord(recordLines[0])
	if err != nil {
		b.Fatal(err)
	}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = r.AppendText(line[:0])
	}
}

package datastore

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Goal: a checkpoint reads back as what was written, keeps what it does not know, and says what upstream's format says.
// Method: exact texts, then fuzzing.

const later = `{"version":"vpc-cni-ipam/1","allocations":[{"networkName":"aws-cni","containerID":"c1","ifName":"eth0",` +
	`"ipv4":"10.0.0.1","allocationTimestamp":1700000000000000000,"metadata":{"k8sPodNamespace":"default","k8sPodName":"web"}}],` +
	`"cooling":[{"ipv4":"10.0.0.2","released":1700000000000000001}],"quarantined":[{"ipv4":3}],"futureField":[1,{"a":null}]}`

func TestCheckpointTexts(t *testing.T) {
	for _, text := range [...]string{
		later,
		`{"version":"","allocations":[]}`,
		`{"version":"vpc-cni-ipam/1","allocations":[{"networkName":"n&","containerID":"c\"","ifName":"é","ipv4":"1.2.3.4"}]}`,
	} {
		d := mustParse(t, text)
		if have := string(d.AppendJSON(nil)); have != text {
			t.Errorf("%s\nbecame\n%s", text, have)
		}
		// What goes through encoding/json says the same.
		viaJSON, err := json.Marshal(d)
		if err != nil || !reflect.DeepEqual(mustParse(t, string(viaJSON)), d) {
			t.Errorf("marshaled: %s %v", viaJSON, err)
		}
	}
	d := mustParse(t, ` { "allocations" : null } `)
	if d.Version != "" || d.Allocations != nil {
		t.Errorf("%+v", d)
	}
}

// Upstream's structs read what is written here.
func TestUpstreamReadsOurs(t *testing.T) {
	var theirs struct {
		Version     string `json:"version"`
		Allocations []struct {
			IPAMKey
			IPv4 string `json:"ipv4"`
		} `json:"allocations"`
	}
	d := document(2)
	d.Cooling = mustParse(t, later).Cooling
	if err := json.Unmarshal(d.AppendJSON(nil), &theirs); err != nil || theirs.Version != CheckpointFormatVersion || len(theirs.Allocations) != 2 ||
		theirs.Allocations[1].ContainerID != "c01" || theirs.Allocations[1].IPv4 != "10.0.0.1" {
		t.Errorf("%+v %v", theirs, err)
	}
}

func TestParseCheckpointRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"":                                    "not an object",
		"[]":                                  "not an object",
		`{"version":1}`:                       `field "version"`,
		`{"allocations":{}}`:                  `field "allocations"`,
		`{"allocations":[],"allocations":[]}`: "twice",
		`{"version":"v"`:                      "EOF",
		`{} x`:                                "follows",
		`{"version":"v","allocations":[{`:     "EOF",
	} {
		if d, err := ParseCheckpoint([]byte(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q became %+v %v, want an error with %q", text, d, err, why)
		}
	}
}

func FuzzParseCheckpoint(f *testing.F) {
	f.Add([]byte(later))
	f.Add([]byte(`{"version":"vpc-cni-ipam/1","allocations":[{"ipv4":"::ffff:1.2.3.4"},7,{"ifName":[]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := ParseCheckpoint(text)
		if err != nil {
			return
		}
		written := d.AppendJSON(nil)
		again, err := ParseCheckpoint(written)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, written, err)
		}
		// Reasons are not stored.
		for _, list := range [][]DamagedEntry{d.Damaged, again.Damaged} {
			for i := range list {
				list[i].Why = ""
			}
		}
		if len(d.Allocations) == 0 {
			d.Allocations, again.Allocations = nil, nil
		}
		if !reflect.DeepEqual(d, again) || string(again.AppendJSON(nil)) != string(written) {
			t.Fatalf("%q became %+v and then %+v", text, d, again)
		}
		// A store survives whatever it reads.
		b := newBench(2)
		b.file.Data = json.RawMessage(written)
		b.must(t, b.ds.AddENI("eni-0", 0, true, false), b.ds.AddIPv4CidrToStore("eni-0", prefix("1.2.3.0/28")))
		_ = b.ds.ReadBackingStore()
		if s := b.ds.GetIPStats(); s.TotalIPs != 16 || s.AvailableAddresses() < 0 {
			t.Fatalf("account %+v", s)
		}
	})
}

package nodeid

import (
	"errors"
	"testing"
)

// Goal: records of every version before are read, those of later versions as far as they allow. Method: texts as they
// stand in stores; the first is of format 1 and is never changed.
func TestRecordFormats(t *testing.T) {
	const first = `{"id":3,"name":"node-3","uid":"u3","ip_address":"192.168.16.3/24","management_ip_address":"10.0.0.3,fd00::3",` +
		`"pod_networks":["10.1.3.0/24"],"host_network":"172.30.3.0/24","vxlan":"192.168.30.3","released_at":"2024-01-02T03:04:05.000000006Z"}`
	n, err := ParseRecord(first)
	if err != nil || n.String() != first {
		t.Fatalf("%v: written again as %s", err, n)
	}
	with := func(field string) string { return first[:len(first)-1] + "," + field + "}" }
	for _, text := range []string{with(`"format":1`), with(`"later":{"a":[1,2]}`), with(`"format":1,"later":null`)} {
		if got, err := ParseRecord(text); err != nil || got.String() != first {
			t.Errorf("%s: read as %s, %v", text, got, err)
		}
	}
	for _, text := range []string{with(`"format":2`), `{"format":7,"pod_networks":"another meaning"}`, `{"format":7,"vxlan":"v"}`} {
		if _, err := ParseRecord(text); !errors.Is(err, ErrNewer) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

package lab

import (
	"fmt"
	"strings"
	"testing"
)

// TestWantedObjects goal: of an agent's plan everything is read that is wanted, whatever stands behind it, and nothing that is to go.
// Method: a plan with a line of each sign.
func TestWantedObjects(t *testing.T) {
	got, err := wantedObjects(`node
  = table 1
  + up loop0
  ~ route table 1 10.1.2.0/24 drop  (is: route table 1 10.1.2.0/24 lookup 0)
  ? mtu host-vpp2 1450  (no answer)
pod/x
  - up loop9
(nobody's)
  - up loop8
`)
	var lines []string
	for _, o := range got {
		lines = append(lines, string(o.AppendText(nil)))
	}
	if want := "table 1; up loop0; route table 1 10.1.2.0/24 drop; mtu host-vpp2 1450"; err != nil || strings.Join(lines, "; ") != want {
		t.Errorf("%s, %v; want %s", strings.Join(lines, "; "), err, want)
	}
	for _, bad := range []string{"", "node\n  = nonsense 1\n"} {
		if got, err := wantedObjects(bad); err == nil {
			t.Error(fmt.Sprintf("%q", bad), "is taken for a plan:", got)
		}
	}
}

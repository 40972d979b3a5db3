package datastore_test

import (
	"testing"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Goal: every instance type that a scenario may name can hold pods. Method: each row of the table.
func TestInstanceTypes(t *testing.T) {
	for _, name := range datastore.InstanceTypes() {
		if l, ok := datastore.LimitsOf(name); !ok || l.ENIs < 2 || l.IPv4PerENI < 2 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

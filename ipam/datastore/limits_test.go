package datastore_test

import (
	"testing"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Goal: every instance type that a scenario may name can hold pods. Method: each row of the table.
func TestInstanceTypes(t *testing.T) {
	for _, name := range datastore.InstanceTypes() {
		if l, ok := datastore.LimitsOf(name); !ok || l.ENIs < 1 || l.IPv4PerENI < 2 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// Goal: types are read as AWS documents them. Method: one of each kind of machine, by hand from the EC2 user guide.
func TestInstanceTypesOfTheGuide(t *testing.T) {
	for name, want := range map[string]datastore.Limits{
		"t3.nano": {ENIs: 2, IPv4PerENI: 2}, "m5.large": {ENIs: 3, IPv4PerENI: 10}, "m6i.large": {ENIs: 3, IPv4PerENI: 10}, "m7g.16xlarge": {ENIs: 15, IPv4PerENI: 50},
		"c6i.4xlarge": {ENIs: 8, IPv4PerENI: 30}, "t4g.micro": {ENIs: 2, IPv4PerENI: 2}, "r5.24xlarge": {ENIs: 15, IPv4PerENI: 50},
	} {
		if l, ok := datastore.LimitsOf(name); !ok || l != want {
			t.Errorf("%s: %+v, want %+v", name, l, want)
		}
	}
	if _, ok := datastore.LimitsOf("m5.tiny"); ok {
		t.Error("m5.tiny is known")
	}
}

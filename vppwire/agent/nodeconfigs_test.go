package agent

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func nodeConfigOf(name, gateway, nic string) NodeConfig {
	return NodeConfig{NodeName: name, NodeConfigSpec: NodeConfigSpec{Gateway: gateway, MainVPPInterface: InterfaceConfig{InterfaceName: nic}}}
}

// Goal: a resource beats the file for its node, as a whole and for no other node; one that cannot be is left out by
// name, and what was taken before of its node stays, or else the file's. Method: a table, each row as what counts in
// the end of each node.
func TestOverride(t *testing.T) {
	file := Config{TCPstackDisabled: true, NodeName: "a", NodeConfig: []NodeConfig{nodeConfigOf("a", "192.168.16.100", "file"), nodeConfigOf("b", "", "file")}}
	file.ApplyDefaults()
	for _, test := range []struct {
		name              string
		resources, before []NodeConfig
		want              []string
		refused           string
	}{
		{"nothing", nil, nil, []string{"a file 192.168.16.100", "b file "}, ""},
		{"as a whole", []NodeConfig{nodeConfigOf("a", "", "cr")}, nil, []string{"a cr ", "b file "}, ""},
		{"another node", []NodeConfig{nodeConfigOf("c", "192.168.16.9", "")}, nil, []string{"a file 192.168.16.100", "b file ", "c  192.168.16.9"}, ""},
		{"removed", nil, []NodeConfig{nodeConfigOf("a", "", "cr")}, []string{"a file 192.168.16.100", "b file "}, ""},
		{"refused", []NodeConfig{nodeConfigOf("a", "gate", "bad"), nodeConfigOf("b", "", "cr")}, nil, []string{"a file 192.168.16.100", "b cr "}, `NodeConfig a: gateway "gate"`},
		{"refused behind a good one", []NodeConfig{nodeConfigOf("a", "gate", "bad")}, []NodeConfig{nodeConfigOf("a", "", "cr")}, []string{"a cr ", "b file "}, `NodeConfig a: gateway "gate"`},
	} {
		now, taken, refused := file.Override(test.resources, test.before)
		var got []string
		for _, n := range now.NodeConfig {
			got = append(got, n.NodeName+" "+n.MainVPPInterface.InterfaceName+" "+n.Gateway)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if text := errorsText(refused); !strings.Contains(text, test.refused) || (text == "") != (test.refused == "") {
			t.Errorf("%s: refused %q", test.name, text)
		}
		text, err := MarshalNodeConfigs(taken)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := UnmarshalNodeConfigs(text)
		if again, _, _ := file.Override(kept, nil); err != nil || !again.ActsAs(&now) || len(kept) != len(taken) {
			t.Errorf("%s: kept as %s, %v", test.name, text, err)
		}
	}
	if _, err := UnmarshalNodeConfigs([]byte(`{"version": 2}`)); err == nil {
		t.Error("a newer version is taken")
	}
}

func errorsText(by map[string]error) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		lines = append(lines, by[name].Error())
	}
	return strings.Join(lines, "; ")
}

// Goal: an agent is started anew for what changes what it does, and for nothing else.
func TestActsAs(t *testing.T) {
	base := Config{NodeName: "a", NodeConfig: []NodeConfig{nodeConfigOf("a", "192.168.16.100", "nic"), nodeConfigOf("b", "", "nic")}}
	for _, test := range []struct {
		name string
		list []NodeConfig
		same bool
	}{
		{"the same in another order", []NodeConfig{nodeConfigOf("b", "", "nic"), nodeConfigOf("a", "192.168.16.100", "nic")}, true},
		{"another's interface", []NodeConfig{nodeConfigOf("a", "192.168.16.100", "nic"), nodeConfigOf("b", "", "other")}, true},
		{"another's gateway", []NodeConfig{nodeConfigOf("a", "192.168.16.100", "nic"), nodeConfigOf("b", "192.168.16.9", "nic")}, false},
		{"another with a known gateway", []NodeConfig{nodeConfigOf("a", "192.168.16.100", "nic"), nodeConfigOf("b", "192.168.16.100", "nic")}, true},
		{"the own interface", []NodeConfig{nodeConfigOf("a", "192.168.16.100", "other")}, false},
		{"nothing of the own", []NodeConfig{nodeConfigOf("b", "192.168.16.100", "nic")}, false},
	} {
		other := Config{NodeName: "a", NodeConfig: test.list}
		if base.ActsAs(&other) != test.same || other.ActsAs(&base) != test.same {
			t.Errorf("%s: want %t", test.name, test.same)
		}
	}
}

// Goal: a resource is read with contiv's keys, and a key that is none is told.
func TestParseNodeConfigSpec(t *testing.T) {
	got, err := ParseNodeConfigSpec([]byte(`{"mainVPPInterface":{"interfaceName":"uplink0","ip":"192.168.16.1/24"},"otherVPPInterfaces":[{"interfaceName":"x","useDHCP":true}],"gateway":"192.168.16.100","natExternalTraffic":true}`))
	want := NodeConfigSpec{MainVPPInterface: InterfaceConfig{InterfaceName: "uplink0", IP: "192.168.16.1/24"}, OtherVPPInterfaces: []InterfaceConfig{{InterfaceName: "x", UseDHCP: true}},
		Gateway: "192.168.16.100", NatExternalTraffic: true}
	if err != nil || !sameSpec(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ParseNodeConfigSpec([]byte(`{"gatevay":"192.168.16.100"}`)); err == nil || !strings.Contains(err.Error(), "gatevay") {
		t.Errorf("an unknown key: %v", err)
	}
}

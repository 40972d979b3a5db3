//go:build linux

package cni_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// Goal: no field of a network configuration is accepted that changes nothing. Method: every field by reflection; a
// request with it and one without differ in what the agent is told, in what the runtime gets or in that it waits no
// longer, or the field is refused by name. A new field without a line here fails.
func TestFieldsCount(t *testing.T) {
	type try struct {
		command, value string
		// refused: it is, with its name.
		refused bool
		// agent is "silent" or "away"; empty: it answers.
		agent string
		// never: it changes nothing, and why that is well.
		never string
	}
	tries := map[string][]try{
		"cniVersion":                {{command: "ADD", value: `"1.0.0"`}},
		"name":                      {{command: "ADD", value: `"other"`}, {command: "ADD", value: `"a b"`, refused: true}},
		"type":                      {{never: "the runtime finds the plugin by it"}},
		"ipam":                      {{command: "ADD", value: `{"type": "none-such"}`}, {command: "ADD", value: `{"subnet": "10.0.0.0/8"}`, refused: true}},
		"dns":                       {{command: "ADD", value: `{"nameservers": ["10.96.0.10"]}`}},
		"ipMasq":                    {{command: "ADD", value: "true", refused: true}},
		"prevResult":                {{command: "ADD", value: `{"cniVersion": "1.1.0", "interfaces": [{"name": "cni0"}]}`}},
		"runtimeConfig":             {{command: "ADD", value: `{"mac": "02:00:00:00:00:01"}`, refused: true}},
		"args":                      {{command: "ADD", value: `{"cni": {"ips": ["10.1.1.9"]}}`}, {command: "ADD", value: `{"cni": {"ips": ["cni0"]}}`, refused: true}},
		"cni.dev/valid-attachments": {{command: "GC", value: `[{"containerID": "c1", "ifname": "pod0"}]`}},
		"cni.dev/attachments": {
			{command: "GC", value: `[{"containerID": "c1", "ifname": "pod0"}]`},
			{command: "GC", value: `[{"containerID": "c2", "ifname": "pod0"}], "cni.dev/valid-attachments": []`, refused: true},
		},
		"agentSocket":  {{command: "ADD", value: `"/run/none/such.sock"`}, {command: "ADD", value: `"x"`, refused: true}},
		"netnsDirs":    {{command: "ADD", value: `["/none"]`}},
		"timeout":      {{command: "ADD", value: `"1s"`, agent: "silent"}, {command: "ADD", value: `"1h"`, refused: true}},
		"podInterface": {{command: "ADD", value: `"memif"`}},
		"agentWait":    {{command: "ADD", value: `"10s"`, agent: "away"}, {command: "ADD", value: `"-1s"`, refused: true}},
	}
	for _, field := range cni.NetconfFields() {
		if len(tries[field]) == 0 {
			t.Errorf("%s has no value here", field)
		}
		for _, how := range tries[field] {
			if how.never != "" {
				continue
			}
			ask := func(conf string) string { // of an agent that knows of no other
				s := newStory(t)
				s.agent.mu.Lock()
				s.agent.silent = how.agent == "silent"
				s.agent.mu.Unlock()
				if how.agent == "away" {
					s.agent.stop()
				}
				env := map[string]string{"CNI_COMMAND": how.command, "CNI_CONTAINERID": "c1", "CNI_NETNS": s.words.Replace("$OWN"), "CNI_IFNAME": "pod0", "CNI_NETNS_OVERRIDE": "1", "CNI_PATH": s.dir}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // as a runtime that goes
				defer cancel()
				var out bytes.Buffer
				code := cni.Run(ctx, func(key string) string { return env[key] }, strings.NewReader(s.words.Replace(s.config(conf))), &out)
				return s.back.Replace(fmt.Sprint(s.agent.said(), code, out.String(), "the runtime has gone: ", ctx.Err() != nil))
			}
			without, with := ask("{}"), ask(fmt.Sprintf("{%q: %s}", field, how.value))
			switch {
			case how.refused && !strings.Contains(with, field):
				t.Errorf("%s: %s is not refused by its name: %s", field, how.value, with)
			case with == without:
				t.Errorf("%s: %s is accepted, and changes nothing: %s", field, how.value, with)
			}
		}
	}
	if len(tries) != len(cni.NetconfFields()) {
		t.Errorf("%d fields are tried, and there are %d", len(tries), len(cni.NetconfFields()))
	}
}

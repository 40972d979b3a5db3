//go:build linux

package cni_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// TestStories goal: each request is told to the agent in the right words or not at all, and the runtime gets what the
// specification wants. Method: run the plugin with the environment and standard input of a story; in front of it stands
// the agent's real end of the socket, behind which a fake answers as the story says.
//
//	agent [code=N] [silent] [away]
//	its message
//
//	COMMAND [id=…] [if=…] [netns=…] [args=…] [path=…] [VARIABLE=…]
//	configuration
//
// $DIR is a folder that netnsDirs of the default configuration names; $OWN is the test's own namespace, which is
// allowed here, and has no interface pod0. Fields that are not given have harmless values; "-" takes one away. A
// configuration that is a JSON object gets name, cniVersion, type, agentSocket and netnsDirs where it lacks them; null
// takes one away.
func TestStories(t *testing.T) {
	datadriven.Walk(t, filepath.Join("testdata", "stories"), func(t *testing.T, path string) {
		s := newStory(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "agent" {
				return s.agentIs(t, d)
			}
			return s.run(t, d)
		})
	})
}

type story struct {
	agent fakeAgent
	dir   string // of namespaces
	words *strings.Replacer
	back  *strings.Replacer
}

func newStory(t *testing.T) *story {
	s := &story{dir: t.TempDir()}
	s.agent.start(t)
	if err := os.WriteFile(filepath.Join(s.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own := "/proc/" + strconv.Itoa(os.Getpid()) + "/ns/net"
	s.words = strings.NewReplacer("$DIR", s.dir, "$OWN", own)
	s.back = strings.NewReplacer(s.dir, "$DIR", own, "$OWN", s.agent.socket, "$SOCKET")
	return s
}

// agentIs says how the agent behaves from now on.
func (s *story) agentIs(t *testing.T, d *datadriven.TestData) string {
	s.agent.mu.Lock()
	s.agent.answer, s.agent.silent = agent.Answer{}, d.HasArg("silent")
	var code int
	d.MaybeScanArgs(t, "code", &code)
	s.agent.answer.Code = agent.Code(code)
	s.agent.answer.Message = d.Input
	s.agent.mu.Unlock()
	if d.HasArg("away") {
		s.agent.stop()
	}
	return ""
}

func (s *story) run(t *testing.T, d *datadriven.TestData) string {
	env := map[string]string{"CNI_COMMAND": d.Cmd, "CNI_CONTAINERID": "c1", "CNI_NETNS": "$OWN", "CNI_IFNAME": "pod0",
		"CNI_NETNS_OVERRIDE": "1"}
	short := map[string]string{"id": "CNI_CONTAINERID", "if": "CNI_IFNAME", "netns": "CNI_NETNS", "args": "CNI_ARGS", "path": "CNI_PATH"}
	for _, a := range d.CmdArgs {
		value := strings.Join(a.Vals, ", ")
		if unquoted, err := strconv.Unquote(`"` + value + `"`); err == nil {
			value = unquoted // \u escapes and the like
		}
		key := a.Key
		if long, ok := short[key]; ok {
			key = long
		}
		if env[key] = value; value == "-" {
			env[key] = ""
		}
	}
	var out bytes.Buffer
	code := cni.Run(context.Background(), func(key string) string { return s.words.Replace(env[key]) },
		strings.NewReader(s.words.Replace(s.config(d.Input))), &out)
	text := s.agent.said()
	text += fmt.Sprintf("exit %d\n", code) + indent(out.Bytes())
	return s.back.Replace(text)
}

// config completes a configuration; what is no JSON object stays as it is.
func (s *story) config(text string) string {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(text), &fields) != nil || fields == nil {
		return text
	}
	for key, value := range map[string]string{"name": `"k8s"`, "cniVersion": `"1.1.0"`, "type": `"vppdrill"`, "agentWait": `"0s"`,
		"agentSocket": strconv.Quote(s.agent.socket), "netnsDirs": `["$DIR", "/proc"]`} {
		if given, ok := fields[key]; !ok {
			fields[key] = json.RawMessage(value)
		} else if string(given) == "null" {
			delete(fields, key)
		}
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// indent shows each JSON document of an output, and whatever else there is as it is.
func indent(out []byte) string {
	var b strings.Builder
	d := json.NewDecoder(bytes.NewReader(out))
	for d.More() {
		var doc json.RawMessage
		if err := d.Decode(&doc); err != nil {
			return b.String() + fmt.Sprintf("no JSON: %q\n", out)
		}
		var shown bytes.Buffer
		_ = json.Indent(&shown, doc, "", "  ") // it was decoded
		fmt.Fprintln(&b, shown.String())
	}
	return b.String()
}

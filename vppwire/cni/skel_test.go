//go:build linux

package cni_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// difference is something that the reference implementation of plugins does otherwise, and why we do not follow.
type difference struct {
	why string
	is  func(env map[string]string, conf string, skel, ours uint) bool
}

var differences = []difference{
	{"VERSION is answered in the runtime's own version, so it has to be readable", func(env map[string]string, _ string, skel, ours uint) bool {
		return env["CNI_COMMAND"] == "VERSION" && skel == 0 && ours == types.ErrDecodingFailure
	}},
	{"CNI_PATH is needed by nobody who executes no other plugin", func(env map[string]string, _ string, _, _ uint) bool {
		return env["CNI_PATH"] == ""
	}},
	{"names that Linux gives a meaning are refused", func(env map[string]string, _ string, _, ours uint) bool {
		return env["CNI_IFNAME"] == "eth%d" && ours == types.ErrInvalidEnvironmentVariables
	}},
	{"CNI_NETNS has to be in an allowed place and to exist, except for DEL, where the reference looks at nothing but whether it is the plugin's own",
		func(env map[string]string, _ string, skel, ours uint) bool {
			return env["CNI_COMMAND"] != "DEL" && skel == 0 && (ours == types.ErrInvalidEnvironmentVariables || ours == types.ErrUnknownContainer)
		}},
	{"DEL ends well whatever CNI_NETNS is", func(env map[string]string, _ string, skel, ours uint) bool {
		return env["CNI_COMMAND"] == "DEL" && skel == types.ErrInvalidNetNS && ours == 0
	}},
	{"an unknown command is told before everything else, as nothing else can be right then", func(env map[string]string, _ string, _, ours uint) bool {
		return !slices.Contains([]string{"ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION"}, env["CNI_COMMAND"]) && ours == types.ErrInvalidEnvironmentVariables
	}},
	{"CHECK needs prevResult and GC its list, which the reference leaves to the plugin", func(env map[string]string, _ string, skel, ours uint) bool {
		return (env["CNI_COMMAND"] == "CHECK" || env["CNI_COMMAND"] == "GC") && skel == 0 && ours == types.ErrInvalidNetworkConfig
	}},
	{"a version that cannot be read is an incompatible one", func(_ map[string]string, conf string, skel, ours uint) bool {
		return strings.Contains(conf, `"x"`) && skel == types.ErrDecodingFailure && ours == types.ErrIncompatibleCNIVersion
	}},
}

// requests yields every combination of some parameters and configurations.
func requests(socket string) func(yield func(env map[string]string, conf string) bool) {
	good := fmt.Sprintf(`"agentSocket": %q`, socket)
	choices := []struct {
		key    string
		values []string
	}{
		{"CNI_COMMAND", []string{"ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION", "FLY"}},
		{"CNI_CONTAINERID", []string{"c1", "", "a/b"}},
		{"CNI_NETNS", []string{fmt.Sprintf("/proc/%d/ns/net", os.Getpid()), "", "/nowhere"}},
		{"CNI_IFNAME", []string{"eth0", "", "abcdefghijklmnop", "eth%d"}},
		{"CNI_NETNS_OVERRIDE", []string{"", "true"}},
		{"CNI_PATH", []string{"/opt/cni/bin", ""}},
		{"conf", []string{`{"cniVersion": "1.1.0", "name": "k8s", ` + good + `}`, `{"cniVersion": "0.3.1", "name": "k8s", ` + good + `}`,
			`{"cniVersion": "9.0.0", "name": "k8s"}`, `{"cniVersion": "x", "name": "k8s"}`, `{"cniVersion": "1.1.0"}`,
			`{"cniVersion": "1.1.0", "name": "a b"}`, `{`}},
	}
	return func(yield func(map[string]string, string) bool) {
		for n := 0; ; n++ {
			env, rest := map[string]string{}, n
			for _, c := range choices {
				env[c.key] = c.values[rest%len(c.values)]
				rest /= len(c.values)
			}
			conf := env["conf"]
			delete(env, "conf")
			if rest > 0 || !yield(env, conf) {
				return
			}
		}
	}
}

// TestAgreesWithSkel goal: what every plugin in the field does, this one does, but for the differences above. Method:
// every combination of a few good and bad parameters and configurations is given to the reference implementation, with
// functions that do nothing, and to the plugin, whose agent agrees to everything; the codes are compared. Each
// difference must occur, or it would not be one.
func TestAgreesWithSkel(t *testing.T) {
	var a fakeAgent
	a.start(t)
	nothing := func(*skel.CmdArgs) error { return nil }
	funcs := skel.CNIFuncs{Add: nothing, Del: nothing, Check: nothing, GC: nothing, Status: nothing}
	in := filepath.Join(t.TempDir(), "conf")
	reference := func(env map[string]string, conf string) uint {
		for k, v := range env {
			t.Setenv(k, v)
		}
		if err := os.WriteFile(in, []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		stdin, stdout := os.Stdin, os.Stdout
		defer func() { os.Stdin, os.Stdout = stdin, stdout }()
		var err error
		if os.Stdin, err = os.Open(in); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Stdin.Close() }()
		if os.Stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Stdout.Close() }()
		if e := skel.PluginMainFuncsWithError(funcs, version.PluginSupports(cni.Versions...), ""); e != nil {
			return e.Code
		}
		return 0
	}
	ours := func(env map[string]string, conf string) uint {
		var out bytes.Buffer
		if cni.Run(context.Background(), func(k string) string { return env[k] }, strings.NewReader(conf), &out) == 0 {
			return 0
		}
		var e types.Error
		if err := json.Unmarshal(out.Bytes(), &e); err != nil || e.Code == 0 {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		return e.Code
	}
	combinations, seen := 0, make([]int, len(differences))
	for env, conf := range requests(a.socket) {
		combinations++
		want, got := reference(env, conf), ours(env, conf)
		if want == got {
			continue
		}
		i := slices.IndexFunc(differences, func(d difference) bool { return d.is(env, conf, want, got) })
		if i < 0 {
			t.Errorf("%v %s: the reference says %d, we say %d", env, conf, want, got)
			continue
		}
		seen[i]++
	}
	for i, d := range differences {
		if seen[i] == 0 {
			t.Errorf("no difference: %s", d.why)
		}
		t.Logf("%4d of %d: %s", seen[i], combinations, d.why)
	}
}

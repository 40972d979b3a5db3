//go:build linux

package cni_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/google/go-cmp/cmp"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni"
)

func parseMAC(text string) (net.HardwareAddr, error) { return net.ParseMAC(text) }

// programs are built once for all tests: the program as a whole, and the plugin alone.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "vppdrill-cni-*")
	if err != nil {
		return "", err
	}
	builtIn = dir
	for name, pkg := range map[string]string{"vppdrill": "github.com/vppdrill/vppdrill", "plugin": "github.com/vppdrill/vppdrill/vppwire/cni/plugin",
		"cnitool": "github.com/containernetworking/cni/cnitool"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg).CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%s: %w\n%s", pkg, err, out)
		}
	}
	return dir, nil
})

// built returns the folder of the built programs; a test that takes long is left out by -short.
func built(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program: left out by -short")
	}
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// binDir makes a CNI bin directory in which the plugin is a link to a program.
func binDir(t testing.TB, program string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, cni.PluginType)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// list is a network configuration list for libcni.
func list(t testing.TB, version, socket string, netnsDirs []string) *libcni.NetworkConfigList {
	t.Helper()
	dirs, err := json.Marshal(netnsDirs)
	if err != nil {
		t.Fatal(err)
	}
	l, err := libcni.ConfListFromBytes(fmt.Appendf(nil, `{"cniVersion": %q, "name": "k8s", "plugins": [
		{"type": "vppdrill", "agentSocket": %q, "netnsDirs": %s, "agentWait": "0s"}]}`, version, socket, dirs))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLibcni goal: container runtimes can use the program and the plugin alone. Method: libcni, which runtimes are
// built on, does ADD, CHECK, DEL, GC, STATUS and VERSION with both, in each version of the specification; the sandbox
// is a real namespace that holds what the agent says it has made. libcni's own reading of each result must be the same.
func TestLibcni(t *testing.T) {
	needRoot(t)
	dir := built(t)
	for _, program := range []string{"vppdrill", "plugin"} {
		for _, version := range cni.Versions {
			t.Run(program+"/"+version, func(t *testing.T) { throughLibcni(t, filepath.Join(dir, program), version) })
		}
	}
}

func throughLibcni(t *testing.T, program, version string) {
	ctx := context.Background()
	var a fakeAgent
	a.start(t)
	dir := t.TempDir()
	netns := newNetns(t, dir, "pod", attachment{ifName: "eth0", mac: "02:00:00:00:00:01", addr: "10.1.1.2/32"}.make)
	client := libcni.NewCNIConfigWithCacheDir([]string{binDir(t, program)}, t.TempDir(), nil)
	l := list(t, version, a.socket, []string{dir})
	rt := &libcni.RuntimeConf{ContainerID: "c1", NetNS: netns, IfName: "eth0", Args: [][2]string{{"IgnoreUnknown", "1"},
		{"K8S_POD_NAMESPACE", "default"}, {"K8S_POD_NAME", "web-0"}}}

	versions, err := client.GetVersionInfo(ctx, "vppdrill")
	if err != nil || !cmp.Equal(versions.SupportedVersions(), cni.Versions) {
		t.Fatalf("%v, %v", versions, err)
	}
	if _, err := client.ValidateNetworkList(ctx, l); err != nil {
		t.Fatal(err)
	}
	told, err := client.AddNetworkList(ctx, l, rt)
	if err != nil {
		t.Fatal(err)
	}
	if told.Version() != version {
		t.Fatalf("version %s", told.Version())
	}
	compareResult(t, told, netns)

	after := func(least string) bool { return versionAtLeast(version, least) }
	if err := client.CheckNetworkList(ctx, l, rt); (err == nil) != after("0.4.0") {
		t.Fatalf("CHECK: %v", err)
	}
	if err := client.GetStatusNetworkList(ctx, l); err != nil { // libcni itself keeps quiet below 1.1.0
		t.Fatalf("STATUS: %v", err)
	}
	// libcni deletes what it knows of and what is not valid any more, then tells the plugin.
	if err := client.GCNetworkList(ctx, l, &libcni.GCArgs{ValidAttachments: []types.GCAttachment{{ContainerID: "c1", IfName: "eth0"}}}); err != nil {
		t.Fatalf("GC: %v", err)
	}
	if err := client.DelNetworkList(ctx, l, rt); err != nil {
		t.Fatalf("DEL: %v", err)
	}
	removeNetns(netns)
	rt.NetNS = ""
	if err := client.DelNetworkList(ctx, l, rt); err != nil {
		t.Fatalf("DEL of what is gone: %v", err)
	}

	// The sandbox has its eth0 already, as the fake makes none: so the agent is asked whether it is its own.
	want := "agent: pod-check request=0 k8s/c1/eth0\nagent: pod-add request=0 k8s/c1/eth0 netns=" + netns + " ns=default pod=web-0\n"
	if after("0.4.0") {
		want += "agent: pod-check request=0 k8s/c1/eth0 addr=10.1.1.2\n"
	}
	if after("1.1.0") {
		want += "agent: pod-status request=0\nagent: pod-gc request=0 network=k8s k8s/c1/eth0\n"
	}
	want += strings.Repeat("agent: pod-del request=0 k8s/c1/eth0\n", 2)
	if got := a.said(); got != want {
		t.Errorf("the agent heard\n%swant\n%s", got, want)
	}
}

func versionAtLeast(version, least string) bool {
	for _, v := range cni.Versions {
		if v == version {
			return v == least
		}
		if v == least {
			return true
		}
	}
	return false
}

// compareResult compares a result of any version with what the fake agent made.
func compareResult(t *testing.T, told types.Result, netns string) {
	t.Helper()
	got, err := current.NewResultFromResult(told)
	if err != nil {
		t.Fatal(err)
	}
	mtu := 1450
	if !versionAtLeast(told.Version(), "1.0.0") {
		mtu = 0 // results had none
	}
	everything := net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
	gw := net.IPv4(10, 1, 1, 1)
	want := &current.Result{CNIVersion: "1.1.0",
		Interfaces: []*current.Interface{{Name: "eth0", Mac: "02:00:00:00:00:01", Mtu: mtu, Sandbox: netns}},
		IPs:        []*current.IPConfig{{Interface: current.Int(0), Address: net.IPNet{IP: net.IPv4(10, 1, 1, 2).To4(), Mask: net.CIDRMask(32, 32)}, Gateway: gw}},
		Routes:     []*types.Route{{Dst: everything, GW: gw}}}
	sameIP := cmp.Comparer(func(a, b net.IP) bool { return a.Equal(b) })
	if d := cmp.Diff(want, got, sameIP); d != "" {
		t.Errorf("result %s (-want +got)\n%s", told.Version(), d)
	}
}

// TestLibcniErrors goal: an error reaches a runtime with its code. Method: libcni's own decoding.
func TestLibcniErrors(t *testing.T) {
	var a fakeAgent
	a.start(t)
	a.answer = agent.Answer{Code: agent.CodeTryAgain, Message: "no address is free"}
	client := libcni.NewCNIConfigWithCacheDir([]string{pluginDir(t)}, t.TempDir(), nil)
	l := list(t, "1.1.0", a.socket, []string{"/proc"})
	own := fmt.Sprintf("/proc/%d/ns/net", os.Getpid())
	for _, test := range []struct {
		rt   libcni.RuntimeConf
		code uint
		text string
	}{
		{libcni.RuntimeConf{ContainerID: "c1", NetNS: own, IfName: "eth0", Args: [][2]string{{"CNI_NETNS_OVERRIDE", "1"}}}, types.ErrInvalidEnvironmentVariables, "CNI_ARGS"},
		{libcni.RuntimeConf{ContainerID: "c1", NetNS: own, IfName: "eth0"}, types.ErrInvalidNetNS, "itself"},
		{libcni.RuntimeConf{ContainerID: "c1", NetNS: "/proc/2147483647/ns/net", IfName: "eth0"}, types.ErrUnknownContainer, "CNI_NETNS"},
		{libcni.RuntimeConf{ContainerID: "c1", NetNS: "/etc/passwd", IfName: "eth0"}, types.ErrInvalidEnvironmentVariables, "CNI_NETNS"},
		{libcni.RuntimeConf{ContainerID: "c1", NetNS: own, IfName: "lo"}, types.ErrInvalidEnvironmentVariables, "CNI_IFNAME"},
	} {
		_, err := client.AddNetworkList(context.Background(), l, &test.rt)
		var told *types.Error
		if !errors.As(err, &told) || told.Code != test.code || !strings.Contains(told.Msg, test.text) {
			t.Errorf("%+v: %v", test.rt, err)
		}
	}
	if heard := a.said(); heard != "" {
		t.Errorf("the agent heard\n%s", heard)
	}
	var told *types.Error
	if err := client.DelNetworkList(context.Background(), l, &libcni.RuntimeConf{ContainerID: "c1", IfName: "eth0"}); !errors.As(err, &told) || told.Code != types.ErrTryAgainLater {
		t.Errorf("DEL: %v", err)
	}
}

// TestCnitool goal: the reference client works with the program. Method: build it from its module and let it do a pod's
// life, and each command again where the agent refuses.
func TestCnitool(t *testing.T) {
	needRoot(t)
	dir := built(t)
	var a fakeAgent
	a.start(t)
	place := t.TempDir()
	netns := newNetns(t, place, "pod", attachment{ifName: "eth0", mac: "02:00:00:00:00:01", addr: "10.1.1.2/32"}.make)
	conf := t.TempDir()
	text, err := cni.Conflist{Name: "k8s", AgentSocket: a.socket, NetnsDirs: []string{place}}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(conf, "10-k8s.conflist"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	tool := func(args ...string) (string, error) {
		c := exec.Command(filepath.Join(dir, "cnitool"), args...)
		c.Env = append(os.Environ(), "NETCONFPATH="+conf, "CNI_PATH="+binDir(t, filepath.Join(dir, "vppdrill")), "CNI_IFNAME=eth0")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	for _, command := range []string{"status", "add", "check", "gc", "del"} {
		out, err := tool(command, "k8s", netns)
		if command == "gc" {
			// The tool tells the plugin of no attachments at all, which is not the same as of none: a runtime that forgot
			// them would lose every pod.
			if err == nil || !strings.Contains(out, "cni.dev/valid-attachments is missing") {
				t.Errorf("cnitool gc: %v\n%s", err, out)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cnitool %s: %v\n%s", command, err, out)
		}
		if command == "add" && !strings.Contains(out, `"address": "10.1.1.2/32"`) {
			t.Errorf("cnitool add: %s", out)
		}
	}
	heard := a.said()
	for _, word := range []string{"pod-status", "pod-add", "pod-check", "pod-del"} {
		if !strings.Contains(heard, word) {
			t.Errorf("the agent heard no %s:\n%s", word, heard)
		}
	}
	a.mu.Lock()
	a.answer = agent.Answer{Code: agent.CodeUnavailable, Message: "VPP is down"}
	a.mu.Unlock()
	if out, err := tool("status", "k8s", netns); err == nil || !strings.Contains(out, "VPP is down") {
		t.Errorf("cnitool status: %v\n%s", err, out)
	}
}

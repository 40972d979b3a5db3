package vppproc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
)

// Goal: releases are compared as the months that they are, and what is no release passes.
func TestOlder(t *testing.T) {
	for version, want := range map[string]bool{"25.10-release": false, "25.06-release": true, "24.10": true, "26.02-rc0~12-gabc": false, "25.10": false, "mine": false} {
		if got := older(version, oldest); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}

// Goal: plugins are read from what VPP prints. Method: its text, headings included.
func TestParsePlugins(t *testing.T) {
	const text = " Plugin path is: /usr/lib/vpp_plugins\n\n     Plugin                                   Version                          Description\n" +
		"  1. vxlan_plugin.so                          25.10-release                    VxLan Tunnels\n" +
		"  2. af_packet_plugin.so                      25.10-release                    Linux interface\n"
	if got := parsePlugins(text); !slices.Equal(got, []string{"af_packet", "vxlan"}) {
		t.Error(got)
	}
}

// Goal: a VPP of other messages, one that is missing and one that may not be run are each one line that says so.
func TestWords(t *testing.T) {
	m := &interfaces.SwInterfaceDump{}
	err := mismatch("25.06", "/x/vpp", m, &api.CompatibilityError{IncompatibleMessages: []string{"sw_interface_dump_0"}})
	if !errors.Is(err, ErrCannotRun) || !strings.Contains(err.Error(), m.GetMessageName()) || !strings.Contains(err.Error(), m.GetCrcString()) {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv(Environment, "")
	if path, err := Find(""); err != nil && (!errors.Is(err, ErrCannotRun) || strings.Contains(err.Error(), "\n")) || err == nil && !filepath.IsAbs(path) {
		t.Error(path, err)
	}
	for what, err := range map[error]error{os.ErrPermission: os.ErrPermission, os.ErrNotExist: os.ErrNotExist} {
		if got := reason(err); strings.Contains(got, "exec") || got == "" {
			t.Errorf("%v: %s", what, got)
		}
	}
}

// Goal: what VPP's command line refuses is told from what it prints. Method: its own phrases.
func TestRefused(t *testing.T) {
	for text, want := range map[string]bool{
		"host-uplink\n": false, "": false, "set interface name: unknown input `x y'": true,
		"create host-interface: af_packet_create_if returned error -2": true,
	} {
		if refused(text) != want {
			t.Errorf("%q", text)
		}
	}
}

// Goal: the configuration names everything of one VPP below its own folder, so that several stand side by side.
func TestRender(t *testing.T) {
	text := Config{Binary: "/opt/x/bin/vpp", Dir: "/labs/a/vpp", Heap: 160 << 20, Sleep: 1}.render()
	for _, word := range []string{"runtime-dir /labs/a/vpp", "socket-name /labs/a/vpp/api-vpp.sock", "cli-listen /labs/a/vpp/cli.sock",
		"main-heap-size 160M", "plugin default { disable }", "plugin vxlan_plugin.so { enable }"} {
		if !strings.Contains(text, word) {
			t.Errorf("no %q in\n%s", word, text)
		}
	}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && strings.HasPrefix(f[1], "/") && !strings.HasPrefix(f[1], "/labs/a/vpp") {
			t.Errorf("outside of the folder: %s", line)
		}
	}
}

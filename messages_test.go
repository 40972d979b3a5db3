package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.fd.io/govpp/adapter/socketclient"

	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
)

var (
	boundMessage = regexp.MustCompile(`api\.RegisterMessage\(\(\*(\w+)\)\(nil\), "(\w+)_([0-9a-f]{8})"\)`)
	boundKind    = regexp.MustCompile(`(?s)func \(\*(\w+)\) GetMessageType\(\) api\.MessageType \{\s*return api\.(\w+)`)
)

// moduleCount is one module of govpp's bindings beside the model's table.
type moduleCount struct {
	messages, modelled int
	missing            []string // what a client sends, and events: their replies and details go with them
}

// countModules asks a served model for every message that govpp has bindings of.
func countModules(t *testing.T) map[string]*moduleCount {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go.fd.io/govpp").Output()
	if err != nil {
		t.Fatal("where govpp is:", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "binapi", "*", "*.ba.go"))
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), "bindings", err)
	}
	client := socketclient.NewVppClient(socket.Start(t))
	if err := client.Connect(); err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect()
	all := map[string]*moduleCount{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kinds, m := map[string]string{}, &moduleCount{}
		for _, k := range boundKind.FindAllStringSubmatch(string(text), -1) {
			kinds[k[1]] = k[2]
		}
		for _, b := range boundMessage.FindAllStringSubmatch(string(text), -1) {
			m.messages++
			if _, err := client.GetMsgID(b[2], b[3]); err == nil {
				m.modelled++
			} else if kinds[b[1]] == "RequestMessage" || kinds[b[1]] == "EventMessage" {
				m.missing = append(m.missing, "`"+b[2]+"`")
			}
		}
		if m.messages > 0 {
			all[strings.TrimSuffix(filepath.Base(file), ".ba.go")] = m
		}
	}
	return all
}

// messagesBody is the table of the modelled VPP's messages by module.
func messagesBody(t *testing.T, b *strings.Builder) {
	all := countModules(t)
	var none []string
	b.WriteString("| module | messages | modelled | not modelled |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		if m.modelled == 0 {
			none = append(none, fmt.Sprintf("`%s` (%d)", name, m.messages))
			continue
		}
		missing := strings.Join(m.missing, ", ")
		if missing == "" {
			missing = "nothing"
		}
		fmt.Fprintf(b, "| `%s` | %d | %d | %s |\n", name, m.messages, m.modelled, missing)
	}
	fmt.Fprintf(b, "\nOf these %d modules no message is modelled: %s.\n", len(none), strings.Join(none, ", "))
}

package story_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// The agent dies while an ADD waits for VPP; the journal has the pod's address, and the next life answers with it.
func Example() {
	l := story.New(&testing.T{})
	for _, block := range []string{
		"box n1\nup n1",
		"vpp-kill n1\nadd n1 web-0 c1",
		"kill n1\nvpp-start n1\nup n1\nadd n1 web-0 c1",
		"show n1",
	} {
		out, err := l.Play(block)
		if err != nil {
			fmt.Println(err)
			return
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, "web-0") || strings.Contains(line, "answer") {
				fmt.Print(line)
			}
		}
	}
	// Output:
	// n1 persist seq=5 records=2 | ipam lease k8s/c1/eth0 10.1.1.2 10.1.1.0/24 1000000000000 | sandbox k8s/c1/eth0 1 /run/netns/c1 default web-0 uid-web-0
	// n1 answer add c1 if=eth0 addr=10.1.1.2/32 gateway=10.1.1.1
	// n1 pod web-0 c1 10.1.1.2 up=true removing=false stale=false
}

// TestRefusesUnknownWords: a word that nobody knows is an error that names its line, and so is a machine.
func TestRefusesUnknownWords(t *testing.T) {
	for _, text := range []string{"dance", "dance n1", "start n2", "store burn", "pass soon", "pools 1", "add n1"} {
		l := story.New(t)
		l.Machine("n1")
		if _, err := l.Play(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

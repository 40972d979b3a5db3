package container

import (
	"strings"
	"testing"
)

// Goal: names of images are taken apart as the engine does it, and bad ones are told in one line.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"vppdrill/vpp:25.10": "vppdrill/vpp 25.10", "vpp": "vpp latest", "host:5000/a/b:c": "host:5000/a/b c",
		"": "", "UPPER": "", "a:b:c": "", "a b": "", ":25.10": "",
		"vpp@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef": "",
	} {
		repository, tag, err := tagged(name)
		if (err == nil) != (want != "") || err == nil && repository+" "+tag != want {
			t.Errorf("%q: %s %s, %v; want %q", name, repository, tag, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than a line: %v", name, err)
		}
	}
}

package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// kubectlFiles are files as kubectl prints them: good has a node and a pod, more a second pod with the first one's
// address; put makes further ones.
func kubectlFiles(t *testing.T, dir string) (put func(name, text string) string, good, more string) {
	t.Helper()
	put = func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const node = `{"kind":"Node","metadata":{"name":"n"},"spec":{"podCIDR":"10.0.0.0/24"}}`
	pod := func(name, addr string) string {
		return `{"kind":"Pod","metadata":{"namespace":"d","name":"` + name + `"},"spec":{"nodeName":"n"},"status":{"podIP":"` + addr + `"}}`
	}
	return put, put("good.json", `{"kind":"List","items":[`+node+`,`+pod("a", "10.0.0.5")+`]}`), put("more.json", pod("b", "10.0.0.5"))
}

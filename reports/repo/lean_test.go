package repo

import "testing"

// Goal: a heavy library is seen whoever in between imports it, and named once for each that does. Method: what go list prints of four packages.
func TestLean(t *testing.T) {
	list := "context errors\n" +
		"k8s.io/api/core/v1 k8s.io/apimachinery/pkg/api\n" +
		"example.org/between context k8s.io/api/core/v1\n" +
		Module + "/sim example.org/between gonum.org/v1/plot\n" +
		Module + "/ipam context gonum.organic/x\n"
	found := leanFindings(list)
	if len(found) != 2 || found[0].Path != "example.org/between" || found[1].Path != "sim" {
		t.Errorf("%v", found)
	}
}

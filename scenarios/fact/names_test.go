package fact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: names come in the order in which people count. Method: a list in that order, sorted from its reverse.
func TestCompareNames(t *testing.T) {
	const want = " a api node-1 node-2 node-10 node-2-pod-1 node-2-pod-3 node-99999999999999999999 pod"
	got := strings.Split(want, " ")
	slices.Reverse(got)
	slices.SortFunc(got, fact.CompareNames)
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%q, want %q", s, want)
	}
}

package main

import (
	"strings"
	"testing"
)

// TestTally goal: the last lines tell passes, failures and skips with reasons, and the exit code agrees. Method: recorded
// event streams, whole expected outputs.
func TestTally(t *testing.T) {
	cases := []struct {
		name, in, want string
		code           int
	}{
		{"all pass", `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"pass","Package":"p","Elapsed":0.25}
`, "ok    " + pad("p") + "    0.25s\n1 passed, 0 failed, 0 skipped\n", 0},
		{"a skip names itself", `{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: no chromium found\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":1}
`, "ok    " + pad("p") + "    1.00s\n\nskipped, with reasons:\n  TestB (p): no chromium found\n1 passed, 0 failed, 1 skipped\n", 0},
		{"a failure shows its output", `{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: got 1\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p","Elapsed":0}
`, "--- FAIL p TestC\n    c_test.go:9: got 1\nFAIL  " + pad("p") + "    0.00s\nFAIL\n\nfailed, with the first line of each:\n  TestC (p): c_test.go:9: got 1\n0 passed, 1 failed, 0 skipped\n", 1},
		{"a package that does not build", `{"ImportPath":"p","Action":"build-output","Output":"p/x.go:1: undefined: y\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p"}
`, "p/x.go:1: undefined: y\nFAIL  " + pad("p") + "    0.00s\n0 passed, 1 failed, 0 skipped\n", 1},
		{"a panic shows the test it was in", `{"Action":"output","Package":"p","Test":"TestD","Output":"panic: oh\n"}
{"Action":"fail","Package":"p","Elapsed":0}
`, "FAIL  " + pad("p") + "    0.00s\n--- did not end: TestD\npanic: oh\n0 passed, 1 failed, 0 skipped\n", 1},
		{"lines of other programs pass through", "go: warning\n", "go: warning\n0 passed, 0 failed, 0 skipped\n", 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if code := run(strings.NewReader(c.in), &out); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if out.String() != c.want {
				t.Errorf("printed\n%s\nwant\n%s", out.String(), c.want)
			}
		})
	}
}

// pad fills a package's name to the column that the times start after.
func pad(name string) string { return name + strings.Repeat(" ", 60-len(name)) }

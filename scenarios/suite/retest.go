package suite

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"github.com/vppdrill/vppdrill/scenarios"
)

// callingTest is the name of the test function that calls, "" where none does, as in a variable's declaration.
func callingTest() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		name := f.Function[strings.LastIndexByte(f.Function, '/')+1:]
		if _, name, _ = strings.Cut(name, "."); strings.HasPrefix(name, "Test") && name != "TestMain" {
			name, _, _ = strings.Cut(name, ".") // a closure within it
			return name
		}
		if !more {
			return ""
		}
	}
}

// retestOf is the command that runs one scenario's spec again as the Go test that it is, for what only that test's program has. All seeds of
// the spec come again, drawn ones by Ginkgo's seed.
func retestOf(s *scenarios.Scenario, test string, drawn bool) string {
	command := "go test "
	if test != "" {
		command += "-run " + shellWord("^"+test+"$") + " "
	}
	command += shellWord(packageFolder()) + " -ginkgo.focus " + shellWord(regexp.QuoteMeta(s.Name))
	if drawn {
		command += " -ginkgo.seed " + strconv.FormatInt(ginkgo.GinkgoRandomSeed(), 10)
	}
	return command
}

// packageFolder is that of the running test, where go test starts it, as seen from the module's root.
func packageFolder() string {
	here, err := os.Getwd()
	if err != nil {
		return "."
	}
	for root := here; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			rel, err := filepath.Rel(root, here)
			if err != nil || rel == "." {
				return "."
			}
			return "./" + filepath.ToSlash(rel)
		}
		if root == filepath.Dir(root) {
			return "."
		}
	}
}

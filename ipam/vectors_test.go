package ipam_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The vectors are recorded and derived expectations about the four systems, one file for all of them. Each system has
// an executor that performs operations on this module's implementation; the runner compares results with expectations.
//
// Where a vector documents upstream's misbehaviour, the executor's corrections say what is right instead.
// VPPDRILL_IPAM_VECTORS names other files to run in place of the project's own, separated as in PATH.

const (
	vectorsOwn      = "testdata/vectors.json"
	vectorsVariable = "VPPDRILL_IPAM_VECTORS"
)

// vector is one case of the file.
type vector struct {
	System, Case, Note      string
	Origin, Ref, File, Test string // where it is from
	Setup                   json.RawMessage
	Operations              []operation
}

type operation struct {
	Op     string
	Args   json.RawMessage
	Expect map[string]any
}

// executor performs the operations of one case.
type executor interface {
	// do returns the result under the keys of expectations: value, ip, net, list, … A single value is under "value".
	do(op string, args json.RawMessage) (map[string]any, error)
}

// system is how a system takes part.
type system struct {
	// start builds what a case needs from its setup.
	start func(setup json.RawMessage) (executor, error)
	// corrections replace expectations, by "case/operation number" from 0.
	corrections map[string]correction
	// ofCase tells keys of a setup that are names of the case's own.
	ofCase func(key string) bool
}

// correction says what is right where a vector expects something else. It holds for that expectation alone: another one
// under the same name is judged as it is.
type correction struct {
	was   string // JSON
	right map[string]any
}

// systems is where a system registers.
var systems = map[string]system{
	"contiv": {start: startContiv, corrections: contivCorrections},
	"k8s":    {start: startK8s, corrections: k8sCorrections},
	"cilium": {start: startCilium, corrections: ciliumCorrections},
	"aws":    {start: startAWS, corrections: awsCorrections, ofCase: func(key string) bool { return strings.HasPrefix(key, "eni-") }},
}

func TestVectors(t *testing.T) {
	files := filepath.SplitList(os.Getenv(vectorsVariable))
	own := len(files) == 0
	if own {
		files = []string{vectorsOwn}
	}
	for _, path := range files {
		vectors, err := readVectors(path)
		if err != nil {
			t.Fatal(err)
		}
		corrected := make(map[string]bool)
		for _, v := range vectors {
			t.Run(v.System+"/"+v.Case, func(t *testing.T) {
				for _, complaint := range run(v, corrected) {
					t.Error(complaint)
				}
			})
		}
		if !own {
			continue
		}
		for name, s := range systems {
			for at := range s.corrections {
				if !corrected[name+"/"+at] {
					t.Errorf("system %s corrects %s, and the vectors do not say that", name, at)
				}
			}
		}
	}
}

// readVectors reads a file. A field that is not known is an error, and so is a file without vectors.
func readVectors(path string) ([]vector, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseVectors(text)
}

func parseVectors(text []byte) (vectors []vector, err error) {
	if err := strictly(text, &vectors); err != nil {
		return nil, err
	}
	if len(vectors) == 0 {
		return nil, errors.New("there are no vectors")
	}
	return vectors, nil
}

// strictly reads JSON; a field that is not known is an error.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// run performs a case and returns what is wrong with it. It notes which corrections it needed.
func run(v vector, corrected map[string]bool) (complaints []string) {
	s, ok := systems[v.System]
	switch {
	case !ok:
		return []string{fmt.Sprintf("no executor for system %q", v.System)}
	case len(v.Operations) == 0:
		return []string{"there is no operation"}
	}
	if err := checkKeys(v.Setup, setupKeys[v.System], s.ofCase); err != nil {
		return []string{"setup: " + err.Error()}
	}
	ex, err := s.start(v.Setup)
	if err != nil {
		return []string{fmt.Sprintf("setup %s: %v", v.Setup, err)}
	}
	saved := make(map[string][]string)
	for i, o := range v.Operations {
		complain := func(format string, args ...any) {
			complaints = append(complaints, fmt.Sprintf("operation %d %s %s: ", i, o.Op, o.Args)+fmt.Sprintf(format, args...))
		}
		keys, ok := operationKeys[v.System][o.Op]
		if !ok {
			complain("%v", errNoOperation)
			return complaints
		}
		if err := checkKeys(o.Args, keys, nil); err != nil {
			complain("%v", err)
			return complaints
		}
		want, at := o.Expect, fmt.Sprintf("%s/%d", v.Case, i)
		if c, ok := s.corrections[at]; ok && sameJSON(c.was, want) {
			want, corrected[v.System+"/"+at] = c.right, true
		}
		have, err := ex.do(o.Op, o.Args)
		if errors.Is(err, errNoOperation) {
			complain("%v", err)
			return complaints
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if complaint := judge(key, want[key], have, err, saved); complaint != "" {
				complain("%s", complaint)
			}
		}
		if wanted, ok := want["ok"]; err != nil && want["error"] == nil && !(ok && wanted == false) {
			complain("%v", err)
		}
	}
	return complaints
}

// errNoOperation is returned by executors for operations that they do not know.
var errNoOperation = errors.New("not known to the executor")

// checkKeys refuses an object with a key that is not among the known ones, which blanks separate.
func checkKeys(raw json.RawMessage, known string, also func(string) bool) error {
	if len(raw) == 0 {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(strings.Fields(known), key) && (also == nil || !also(key)) {
			return fmt.Errorf("key %q is not known here; these are: %s", key, known)
		}
	}
	return nil
}

func sameJSON(text string, value any) bool {
	var plain any
	if err := json.Unmarshal([]byte(text), &plain); err != nil {
		panic(err)
	}
	return reflect.DeepEqual(plain, any(value))
}

package kubectl

import (
	"reflect"
	"testing"
)

// CompareTwins reads a pod both ways.
func CompareTwins(t *testing.T, text string) {
	t.Helper()
	if err := Read("f", []byte(text), func(o Object) error {
		quick, quickErr := o.Pod()
		slow, slowErr := o.slowPod()
		if !reflect.DeepEqual(quick, slow) || (quickErr == nil) != (slowErr == nil) {
			t.Errorf("%s: %+v (%v), want %+v (%v)", text, quick, quickErr, slow, slowErr)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

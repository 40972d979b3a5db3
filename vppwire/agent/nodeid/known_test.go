package nodeid

import (
	"fmt"
	"testing"
)

// Goal: agents that live for long keep no texts that records had once. Method: two Machines hear of a record that is
// written again and again, and deleted in the end.
func TestOldTextsAreForgotten(t *testing.T) {
	known := NewKnown()
	var both [2]*Machine
	for i := range both {
		both[i] = New(Config{Name: "n1", Patience: -1, Plan: testPlan{"n1", 3}})
		both[i].Share(known)
	}
	for rev := int64(1); rev <= 100; rev++ {
		text := Record{ID: 2, Name: fmt.Sprint("n", rev), UID: fmt.Sprint("uid-", rev)}.String()
		for _, m := range both {
			m.applyRecord(2, &Item{Key: recordKey(2), Value: text, ModRevision: rev})
			if got := m.view.entry(2).uid; got != fmt.Sprint("uid-", rev) {
				t.Fatalf("revision %d: %s", rev, got)
			}
		}
		if len(known.readings) != 1 {
			t.Fatalf("revision %d: %d texts are kept", rev, len(known.readings))
		}
	}
	for _, m := range both {
		m.applyRecord(2, &Item{Key: recordKey(2), Deleted: true, ModRevision: 101})
	}
	if len(known.readings) != 0 {
		t.Errorf("%d texts are kept of no record", len(known.readings))
	}
}

package lab

import "testing"

// Goal: a pod that has gone is taken away once, and its worker has nothing to do any more. Method: one worker, before and after
// its kubelet has forgotten it.
func TestGoneOnce(t *testing.T) {
	k := &kubelet{on: true, workers: map[string]*worker{}}
	w := &worker{k: k, pod: &pod{uid: "u"}}
	k.workers["u"] = w
	w.pod.deleting.Store(true)
	if w.next() == nil {
		t.Fatal("a deleted pod is left where it is")
	}
	delete(k.workers, "u")
	if w.next() != nil {
		t.Error("a pod that has gone is taken away again")
	}
}

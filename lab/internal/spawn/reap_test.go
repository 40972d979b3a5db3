package spawn

import "testing"

// Goal: whatever a process calls itself, its state and parent are found; and whatever the text is, it is read without
// harm.
func FuzzOrphaned(f *testing.F) {
	for _, s := range []string{"vpp", "a) Z 1 (b", "x)", "", "("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if stat := "7 (" + name + ") Z 12 7"; !orphaned(stat, 12) || orphaned(stat, 7) {
			t.Errorf("%q: not the dead child of 12", name)
		}
		if orphaned("7 ("+name+") S 12 7", 12) {
			t.Errorf("%q: a sleeping process is taken for a dead one", name)
		}
		orphaned(name, 12)
	})
}
